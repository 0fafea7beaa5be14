// Processes in which exceptions are thrown, by the files that they have mapped.
#include "runtime/symbol/exceptions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace dvm::runtime {
namespace {

LinkedFile file(std::unordered_set<std::string> imports, std::unordered_set<std::string> exports = {},
                bool has_handlers = false) {
  LinkedFile made;
  made.imports = std::move(imports), made.exports = std::move(exports), made.has_handlers = has_handlers;
  return made;
}

LinkedFile c_library() {
  LinkedFile made = file({}, {"malloc", "qsort"}, true);
  made.is_c_library = true;
  return made;
}

LinkedFile runtime() {
  LinkedFile made = file({"malloc"}, {"__cxa_throw"}, true);
  made.is_runtime = true;
  return made;
}

LinkedFile allocator() {
  LinkedFile made = file({"__cxa_throw"}, {"malloc", "mallctl", "_Znwm"}, true);
  made.is_allocator = true;
  return made;
}

std::vector<const LinkedFile*> pointers(const std::vector<LinkedFile>& files) {
  std::vector<const LinkedFile*> all;
  for (const LinkedFile& one : files) all.push_back(&one);
  return all;
}

bool throws(const std::vector<LinkedFile>& files) { return can_throw(pointers(files)); }
bool handles_above(const std::vector<LinkedFile>& files) { return can_handle_above(pointers(files)); }

TEST(Exceptions, ProgramsOfCHaveNone) {
  EXPECT_FALSE(throws({file({"malloc"}), c_library()}));
  EXPECT_FALSE(throws({file({"malloc"}), file({"qsort"}, {"parse"}), c_library()}));
}

TEST(Exceptions, AnAllocatorBringsNoneToC) {
  EXPECT_FALSE(throws({file({"malloc", "mallctl"}), allocator(), c_library(), runtime()}));
  EXPECT_TRUE(throws({file({"malloc", "_Znwm"}), allocator(), c_library(), runtime()}));
}

TEST(Exceptions, AFileWithHandlersBringsThem) {
  EXPECT_TRUE(throws({file({"malloc"}, {}, true), c_library()}));
  EXPECT_TRUE(throws({file({"malloc"}), file({}, {"unused"}, true), c_library()})) << "it may have threads of its own";
}

TEST(Exceptions, WhoeverThrowsBringsThem) {
  EXPECT_TRUE(throws({file({"parse"}), file({"__cxa_throw"}, {"parse"}), runtime()}));
  EXPECT_FALSE(throws({file({"parse"}), file({}, {"parse"}), runtime()})) << "it is mapped, and nobody uses it";
}

TEST(Exceptions, AFileThatCannotBeReadMayHaveAnything) {
  EXPECT_TRUE(throws({LinkedFile::read(unmapped_program("/nonexistent")), c_library()}));
  EXPECT_TRUE(throws({LinkedFile::read(unmapped_program("/etc/passwd")), c_library()}));
}

TEST(Exceptions, HandlersOfThreadsMayRunAbove) {
  EXPECT_TRUE(handles_above({file({"sigaltstack"}), file({"pthread_create"}), c_library()}));
  EXPECT_FALSE(handles_above({file({"sigaltstack"}), c_library()})) << "its only stack is above all others";
  EXPECT_FALSE(handles_above({file({"pthread_create"}), c_library()}));
  EXPECT_TRUE(handles_above({file({"sigaltstack", "pthread_create"}, {"PyThread_start_new_thread"}), c_library()}))
      << "any thread of Python may call faulthandler.enable(), and it gets the stack";
}

LinkedFile read_mapped(std::string_view name) {
  const auto objects = mapped_objects(getpid());
  const auto found = std::find_if(objects->begin(), objects->end(), [&](const auto& one) { return one.name.starts_with(name); });
  if (found != objects->end()) return LinkedFile::read(*found);
  ADD_FAILURE() << name;
  return {};
}

TEST(Exceptions, AreReadFromFiles) {
  EXPECT_TRUE(read_mapped("libc.so").is_c_library);
  EXPECT_TRUE(read_mapped("libstdc++").is_runtime);
  EXPECT_TRUE(read_mapped("libgcc_s").is_runtime);
  const LinkedFile own = LinkedFile::read(unmapped_program("/proc/self/exe"));
  EXPECT_TRUE(own.has_handlers);
  EXPECT_TRUE(own.imports.contains("__cxa_begin_catch"));
  const LinkedFile of_c = LinkedFile::read(unmapped_program(DVM_BINARY_DIR "/tests/unit/instrument/source_pie"));
  EXPECT_FALSE(of_c.has_handlers);
  EXPECT_FALSE(of_c.imports.empty());
  EXPECT_FALSE(of_c.switches_stacks);
  EXPECT_FALSE(read_mapped("libc.so").switches_stacks) << "only those that import it use it";
  EXPECT_TRUE(LinkedFile::read(unmapped_program(DVM_BINARY_DIR "/tests/programs/coroutines")).switches_stacks);
  EXPECT_TRUE(LinkedFile::read(unmapped_program(DVM_BINARY_DIR "/tests/unit/instrument/source_static")).has_handlers);
}

TEST(Exceptions, ProgramsLinkedStaticallyContainTheHandlersAbove) {
  const auto handles = [](const std::string& name) {
    return handles_above({LinkedFile::read(unmapped_program(DVM_BINARY_DIR "/tests/unit/instrument/" + name))});
  };
  EXPECT_FALSE(handles("source_static"));
  EXPECT_FALSE(handles("source_pie"));
  EXPECT_TRUE(handles("source_static_handlers"));
  EXPECT_TRUE(handles("source_static_stripped")) << "nothing says what it contains";
}

}  // namespace
}  // namespace dvm::runtime
