// Facts about the kernel, its errors, and its descriptors.
#include "runtime/instrument/uprobe/kernel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/instrument/uprobe/attach.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

TEST(Kernel, MultiUprobeLinksCameWith6Dot6) {
  EXPECT_TRUE(lacks_uprobe_multi("6.1.0-18-amd64"));
  EXPECT_TRUE(lacks_uprobe_multi("5.15.0"));
  EXPECT_TRUE(lacks_uprobe_multi("6.5.9"));
  EXPECT_FALSE(lacks_uprobe_multi("6.6.0"));
  EXPECT_FALSE(lacks_uprobe_multi("6.18.44"));
  EXPECT_FALSE(lacks_uprobe_multi("7.0"));
  EXPECT_FALSE(lacks_uprobe_multi("what"));
}

TEST(Kernel, ErrorsSayWhatFailedAndWhy) {
  EXPECT_EQ(kernel_error("cannot x", ENOSYS).message, "cannot x: this kernel was built without BPF");
  EXPECT_EQ(kernel_error("cannot x", ESRCH).message, "cannot x: the process does not exist any more");
  EXPECT_NE(kernel_error("cannot x", EPERM).message.find("CAP_BPF"), std::string::npos);
}

TEST(Kernel, ARefusedProgramIsRefusedForTheVerifiersReason) {
  if (!may_load_programs()) DVM_SKIP("needs to load BPF programs");
  const bpf_insn returns_nothing = {BPF_JMP | BPF_EXIT, 0, 0, 0, 0};
  const auto loaded = load_sleepable(std::span(&returns_nothing, 1), "dvm_test");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "cannot load a BPF program: the kernel's verifier refuses it: R0 !read_ok");
  EXPECT_EQ(kernel_reason(EACCES), "Permission denied");
}

TEST(Kernel, AFileDescriptorIsClosedOnce) {
  FileDescriptor one(dup(1));
  const int number = one.get();
  FileDescriptor two(std::move(one));
  EXPECT_FALSE(one);
  EXPECT_EQ(two.get(), number);
  two = FileDescriptor();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace dvm::runtime
