// The kernel's own description of its types: tracepoints and members, as /sys/kernel/btf has them.
#include "runtime/instrument/uprobe/kernel_types.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

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
  EXPECT_EQ(resolve(9, "pid").error().message, "the tracepoint sched_switch hands on no word 9");
}

}  // namespace
}  // namespace dvm::runtime
