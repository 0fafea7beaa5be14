// The kernel's own description of its types: tracepoints and members, as /sys/kernel/btf has them.
#include "runtime/instrument/uprobe/kernel_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

class KernelTypesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) DVM_SKIP("/sys/kernel/btf/vmlinux cannot be read");
    auto types = KernelTypes::load();
    ASSERT_TRUE(types) << types.error().message;
    types_ = *types;
  }
  Result<Operand> resolve(uint8_t word, std::string_view members) {
    return types_->resolve("sched_switch", {Operand::handed(word), members});
  }

  std::shared_ptr<const KernelTypes> types_;
};

TEST_F(KernelTypesTest, ListTracepointsWithWhatTheyHandOn) {
  const auto all = types_->tracepoints();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const KernelTracepoint& tracepoint) { return tracepoint.name == "sys_enter"; });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->is_pointer, (std::vector<bool>{true, false}));
  EXPECT_TRUE(types_->hands_on("sys_enter", 2));
  EXPECT_FALSE(types_->hands_on("sys_enter", 3));
  EXPECT_FALSE(types_->hands_on("no_such_tracepoint", 0));
}

TEST_F(KernelTypesTest, FindMembersByWayOfPointers) {
  const auto pid = resolve(2, "pid");
  ASSERT_TRUE(pid);
  EXPECT_EQ(pid->kind, Operand::Kind::kernel);
  EXPECT_EQ(pid->size, 4);
  EXPECT_TRUE(pid->is_signed);
  EXPECT_EQ(pid->depth, 0);
  const auto live = resolve(1, "signal.live.counter");
  ASSERT_TRUE(live);
  EXPECT_EQ(live->depth, 1);
  EXPECT_EQ(live->size, 4);
}

TEST_F(KernelTypesTest, FindElementsOfArrays) {
  const auto first = resolve(1, "signal.pids[0]"), third = resolve(1, "signal.pids[2]");
  ASSERT_TRUE(first && third);
  EXPECT_EQ(third->value, first->value + 16);
  const auto number = resolve(1, "signal.pids[2].numbers[0].nr");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->depth, 2);
  EXPECT_EQ(number->size, 4);
}

TEST_F(KernelTypesTest, TellAnAddressFromWhatLiesThere) {
  EXPECT_EQ(resolve(1, "&comm")->kind, Operand::Kind::kernel_address);
  EXPECT_EQ(resolve(1, "&")->kind, Operand::Kind::kernel_address);
  EXPECT_EQ(resolve(1, "&")->value, 0);
  EXPECT_EQ(resolve(1, "")->kind, Operand::Kind::handed);
}

TEST_F(KernelTypesTest, DescribeTypesByName) {
  const dif::TypeRef type = types_->find_type(dif::DescribedAs::structure, "timespec64");
  ASSERT_NE(type, 0u);
  const dif::TypeDesc desc = types_->describe(type);
  EXPECT_EQ(desc.as, dif::DescribedAs::structure);
  EXPECT_EQ(desc.size, 16u);
  const auto members = types_->members(type);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].name, "tv_nsec");
  EXPECT_EQ(members[1].offset, 8u);
  const dif::TypeDesc pointer = types_->describe(type + KernelTypes::kPointer);
  EXPECT_EQ(pointer.as, dif::DescribedAs::pointer);
  EXPECT_EQ(pointer.target, type);
  EXPECT_EQ(types_->find_type(dif::DescribedAs::structure, "no_such_structure"), 0u);
}

TEST_F(KernelTypesTest, FindConstantsByName) {
  const auto found = types_->find_constant("PIDTYPE_TGID");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 1);
  EXPECT_EQ(types_->describe(found->type).name, "pid_type");
  EXPECT_FALSE(types_->find_constant("NO_SUCH_CONSTANT"));
}

TEST_F(KernelTypesTest, DescribeIntegers) {
  const dif::TypeDesc number = types_->describe(types_->find_type(dif::DescribedAs::alias, "unsigned int"));
  EXPECT_EQ(number.as, dif::DescribedAs::integer);
  EXPECT_EQ(number.size, 4u);
  EXPECT_FALSE(number.is_signed);
  const dif::TypeDesc character = types_->describe(types_->find_type(dif::DescribedAs::alias, "char"));
  EXPECT_TRUE(character.is_char);
  EXPECT_TRUE(character.is_signed);
}

TEST_F(KernelTypesTest, SayWhatIsNotThere) {
  EXPECT_EQ(resolve(2, "nosuch").error().message, "this kernel's structures have no nosuch");
  EXPECT_EQ(types_->resolve("nosuch", {Operand::handed(0)}).error().message, "this kernel has no tracepoint nosuch");
  EXPECT_EQ(resolve(9, "pid").error().message, "the tracepoint sched_switch has no argument 9");
}

// A module called "made", as the kernel describes one: its own types on top of the kernel's.
//   struct made_item { int size; struct list_head links; enum made_kind kind; };  enum made_kind { MADE_A = 7 };
class KernelModuleTest : public KernelTypesTest {
 protected:
  void SetUp() override {
    KernelTypesTest::SetUp();
    if (!types_) return;
    folder_ = testing::TempDir() + "btf" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    setenv("DVM_BTF_FOLDER", folder_.c_str(), 1);
    write();
  }
  void TearDown() override {
    unsetenv("DVM_BTF_FOLDER");
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void write() {
    btf* kernel = btf__load_vmlinux_btf();
    btf* module = btf__new_empty_split(kernel);
    const int list = btf__find_by_name_kind(kernel, "list_head", BTF_KIND_STRUCT);
    const int word = btf__find_by_name_kind(kernel, "int", BTF_KIND_INT);
    const int kind = btf__add_enum(module, "made_kind", 4);
    btf__add_enum_value(module, "MADE_A", 7);
    btf__add_struct(module, "made_item", 32);
    btf__add_field(module, "size", word, 0, 0);
    btf__add_field(module, "links", list, 64, 0);
    btf__add_field(module, "kind", kind, 192, 0);
    uint32_t size = 0;
    const void* bytes = btf__raw_data(module, &size);
    std::ofstream(folder_ + "/made", std::ios::binary).write(static_cast<const char*>(bytes), size);
    std::ofstream(folder_ + "/broken") << "no types";
    btf__free(module);
    btf__free(kernel);
  }

  std::string folder_;
};

TEST_F(KernelModuleTest, AreListed) { EXPECT_EQ(KernelTypes::modules(), (std::vector<std::string>{"broken", "made"})); }

TEST_F(KernelModuleTest, HaveTypesOnTopOfTheKernels) {
  const auto module = KernelTypes::load_module("made", types_);
  ASSERT_TRUE(module) << module.error().message;
  const dif::TypeRef item = (*module)->find_type(dif::DescribedAs::structure, "made_item");
  ASSERT_GE(item, (*module)->first_own());
  EXPECT_EQ(types_->find_type(dif::DescribedAs::structure, "made_item"), 0u);
  const auto members = (*module)->members(item);
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[1].offset, 8u);
  EXPECT_EQ(members[1].type, types_->find_type(dif::DescribedAs::structure, "list_head"));
  EXPECT_EQ((*module)->describe(members[1].type).size, 16u);
  EXPECT_EQ((*module)->find_type(dif::DescribedAs::structure, "list_head"), members[1].type);
  const auto constant = (*module)->find_constant("MADE_A");
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->value, 7);
  EXPECT_TRUE((*module)->find_constant("PIDTYPE_SID"));
}

TEST_F(KernelModuleTest, ThatCannotBeReadAreRefused) {
  EXPECT_FALSE(KernelTypes::load_module("broken", types_));
  EXPECT_FALSE(KernelTypes::load_module("absent", types_));
  EXPECT_EQ(types_->first_own(), 0u);
}

}  // namespace
}  // namespace dvm::runtime
