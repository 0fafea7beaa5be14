// A build without BPF takes the sites of uprobes and says why it cannot enable them.
#include <gtest/gtest.h>

#include <array>

#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

TEST(WithoutBpf, SaysSo) {
  Probe probe;
  probe.site = UprobeSite{"/proc/self/exe", 0, false, 1};
  std::vector<Refused> refused;
  auto instrument = make_uprobe_instrument();
  EXPECT_TRUE(instrument->takes(probe));
  EXPECT_TRUE(instrument->enable({}, refused));
  const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("built without BPF"), std::string::npos);
}

}  // namespace
}  // namespace dvm::runtime
