// The program in this process's own dynamic linker.

#include "runtime/instrument/uprobe/load_watch.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "runtime/symbol/maps.h"
#include "tests/support/skip.h"
#include "tests/support/tracing_privilege.h"

namespace dvm::runtime {
namespace {

void open_and_close() {
  void* library = dlopen(DVM_BINARY_DIR "/tests/programs/liblate_library.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  dlclose(library);
}

TEST(LoadWatch, LibrariesAreCountedIfTheKernelLetsNoProcessWait) {
  if (const std::string why = test::why_no_uprobes(); !why.empty()) DVM_SKIP(why);
  const auto objects = mapped_objects(getpid());
  ASSERT_TRUE(objects);
  ElfCache files;
  const auto linker = find_linker(getpid(), *objects, files);
  ASSERT_TRUE(linker);
  const auto bell = Ring::make(4096);
  ASSERT_TRUE(bell);
  const auto watch = LoadWatch::make(*linker, -1, (*bell)->ring_fd(), false);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_FALSE((*watch)->waits());
  open_and_close();
  open_and_close();
  EXPECT_EQ((*watch)->take_unanswered(), 2U);
  EXPECT_EQ((*watch)->take_unanswered(), 0U);
  std::vector<LoadedIn> loads;
  (*watch)->take(loads);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].pid, getpid());
}

}  // namespace
}  // namespace dvm::runtime
