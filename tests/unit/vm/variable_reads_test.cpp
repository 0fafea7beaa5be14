// Instruments capture of a firing what the column `reads` of variables.def says, and nothing else. So the value of a built-in
// variable depends on no other part of the firing, and it asks the host for no other part of the process.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "dvm/dif/firing_part.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/engine.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::vm {
namespace {

using dif::FiringPart;

constexpr FiringPart kParts[] = {FiringPart::argument,    FiringPart::goroutine, FiringPart::time,      FiringPart::vtime,
                                 FiringPart::thread,      FiringPart::cpu,       FiringPart::comm,      FiringPart::error,
                                 FiringPart::caller,      FiringPart::stack,     FiringPart::registers, FiringPart::kernel_caller,
                                 FiringPart::kernel_stack};

bool reads_part(FiringPart parts, FiringPart part) { return (static_cast<unsigned>(parts) & static_cast<unsigned>(part)) != 0; }

// Notes the parts that it was asked for.
class AskedHost final : public Host {
 public:
  FiringPart asked = FiringPart::nothing;
  bool knows_command = true;

  bool read(uint64_t, std::span<std::byte>) noexcept override { return ask(FiringPart::thread, false); }
  std::ptrdiff_t read_string(uint64_t, std::span<char>) noexcept override { return ask(FiringPart::thread, -1); }
  int32_t ppid() noexcept override { return ask(FiringPart::parent, 1); }
  int64_t uid() noexcept override { return ask(FiringPart::owner, 2); }
  int64_t gid() noexcept override { return ask(FiringPart::owner, 3); }
  int64_t process_number(uint64_t) noexcept override { return ask(FiringPart::number, 4); }
  std::string_view command_line() noexcept override {
    return ask(FiringPart::command, std::string_view(knows_command ? "true" : ""));
  }
  std::string_view working_directory() noexcept override { return ask(FiringPart::directory, std::string_view("/")); }
  std::string_view root_directory() noexcept override { return ask(FiringPart::thread, std::string_view("/")); }
  int64_t file_number(uint64_t) noexcept override { return ask(FiringPart::file, 5); }
  std::string_view file_text(uint64_t) noexcept override { return ask(FiringPart::file, std::string_view("text")); }
  int64_t proc_number(uint64_t) noexcept override { return ask(FiringPart::time, 6); }
  std::string_view proc_text(uint64_t) noexcept override { return ask(FiringPart::time, std::string_view("name")); }
  int32_t chip_of(int32_t of) noexcept override { return of; }
  int32_t node_of(int32_t of) noexcept override { return of; }

 private:
  template <class Value>
  Value ask(FiringPart part, Value answer) {
    asked = asked | FiringPart::thread | part;
    return answer;
  }
};

// A firing, parts of which can be changed.
class ChangedFiring {
 public:
  explicit ChangedFiring(FiringPart part) {
    firing_.provider = firing_.module = firing_.function = firing_.name = "name";
    change(part);
    firing_.execname = comm_;
    firing_.registers = {(1u << registers_.size()) - 1, registers_};
    firing_.stack = std::span(stack_).first(frames_), firing_.kernel_stack = std::span(kernel_stack_).first(kernel_frames_);
  }
  const Firing& get() const { return firing_; }

 private:
  void change(FiringPart part) {
    using enum FiringPart;
    if (part == argument) std::fill_n(firing_.args.begin(), 10, 1);
    if (part == goroutine) firing_.args[10] = 1;
    if (part == time) firing_.timestamp = firing_.walltimestamp = 1;
    if (part == vtime) firing_.vtimestamp = 1;
    if (part == thread) firing_.pid = firing_.tid = 1;
    if (part == cpu) firing_.cpu = 1;
    if (part == comm) comm_ = "other";
    if (part == error) firing_.error_number = 1;
    if (part == caller) stack_[0] = stack_[1] = 7;
    if (part == stack) frames_ = 4;
    if (part == registers) registers_.fill(7);
    if (part == kernel_caller) kernel_stack_[0] = kernel_stack_[1] = 7;
    if (part == kernel_stack) kernel_frames_ = 4;
  }

  Firing firing_;
  std::string comm_ = "comm";
  std::array<uint64_t, 21> registers_{};
  std::array<uint64_t, 4> stack_ = {1, 2, 3, 4}, kernel_stack_ = {1, 2, 3, 4};
  size_t frames_ = 3, kernel_frames_ = 3;
};

// Of an array, element 0. uregs has none; element 4 is %rdi.
std::string listing_of(const dif::BuiltInInfo& variable) {
  const std::string name(variable.name);
  if (variable.kind != dif::BuiltInKind::array) return "ldgs " + name + ", %r1\nret %r1\n";
  return "setx " + std::string(name == "uregs" ? "4" : "0") + ", %r2\nldga " + name + ", %r2, %r1\nret %r1\n";
}

// The value of a variable in a firing whose part is changed, as a text.
std::string variable_value(const dif::BuiltInInfo& variable, FiringPart changed, AskedHost& host) {
  auto verified = verify(dif::test::assembled(listing_of(variable)));
  if (!std::holds_alternative<VerifiedDifo>(verified)) return "refused";
  const auto prepared = prepare_interp(std::get<VerifiedDifo>(std::move(verified)), CostPolicy::none);
  VariableState variables({}, {});
  MachineState state(variables, {});
  const ChangedFiring firing(changed);
  state.begin_firing(firing.get(), host);
  const uint64_t value = prepared->run(state);
  if (variable.type != "string") return std::to_string(value);
  std::string text(64, '\0');
  EXPECT_TRUE(state.copy_string(value, std::as_writable_bytes(std::span(text)))) << variable.name;
  return text;
}

TEST(VariableReads, ValuesDependOnNoOtherPart) {
  unsigned depending = 0;
  for (const dif::BuiltInInfo& variable : dif::kBuiltIns) {
    if (variable.family == dif::VariableFamily::none) continue;
    AskedHost host;
    const std::string usual = variable_value(variable, FiringPart::nothing, host);
    dif::for_each_part(host.asked, [&](FiringPart part) {
      EXPECT_TRUE(reads_part(variable.reads, part)) << variable.name << " asks for part " << static_cast<unsigned>(part);
    });
    for (const FiringPart part : kParts) {
      const bool differs = variable_value(variable, part, host) != usual;
      EXPECT_TRUE(!differs || reads_part(variable.reads, part)) << variable.name << " reads part " << static_cast<unsigned>(part);
      depending += differs;
    }
  }
  EXPECT_GT(depending, 25u);  // firings do differ
}

// The parts on which the value depends, and those that the host was asked for.
FiringPart used_parts(const dif::BuiltInInfo& variable, bool knows_command) {
  AskedHost host;
  host.knows_command = knows_command;
  const std::string usual = variable_value(variable, FiringPart::nothing, host);
  FiringPart used = host.asked;
  for (const FiringPart part : kParts)
    if (variable_value(variable, part, host) != usual) used = used | part;
  return used;
}

// The instrument needs the thread for the CPU time in vtimestamp.
TEST(VariableReads, EachPartIsUsed) {
  for (const dif::BuiltInInfo& variable : dif::kBuiltIns) {
    if (variable.family == dif::VariableFamily::none) continue;
    FiringPart used = used_parts(variable, true) | used_parts(variable, false);
    if (reads_part(used, FiringPart::vtime)) used = used | FiringPart::thread;
    dif::for_each_part(variable.reads, [&](FiringPart part) {
      EXPECT_TRUE(reads_part(used, part)) << variable.name << " does not use part " << static_cast<unsigned>(part);
    });
  }
}

}  // namespace
}  // namespace dvm::vm
