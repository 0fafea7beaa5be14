#include "runtime/agent/record_code.h"

#include <algorithm>
#include <cstring>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;
using inside::RecordStep;

constexpr int32_t kBegin = sizeof(inside::RecordHead);

// As inside/fire.cpp does it.
void widen(CodeWriter& code, const RecordStep& step) {
  const auto spare = static_cast<unsigned char>(64 - 8 * step.size);
  if (step.shift != 0) code.add({0x48, 0xc1, 0xe8, step.shift});  // shr $shift, %rax
  if (spare == 0) return;
  code.add({0x48, 0xc1, 0xe0, spare});                                                           // shl $spare, %rax
  code.add({0x48, 0xc1, static_cast<unsigned char>(step.is_signed != 0 ? 0xf8 : 0xe8), spare});  // sar or shr
}

void add_step(CodeWriter& code, const RecordStep& step, int32_t begin, int32_t pid, int32_t tid_at) {
  if (step.kind == RecordStep::Kind::saved) {
    code.read(Register::rax, Register::rsp, 8 * step.base);
    widen(code, step);
  } else if (step.kind == RecordStep::Kind::thread) {
    code.load(Register::rax, static_cast<uint64_t>(pid) << 32);
    code.add({0x48, 0x0b, 0x84, 0x24}, static_cast<size_t>(tid_at));  // or tid_at(%rsp), %rax
  } else {
    code.load(Register::rax, static_cast<uint64_t>(step.value));
  }
  code.store(Register::rax, Register::rcx, begin + static_cast<int32_t>(step.at));
}

// In the workspace, of a value that is no variable of the thread or the clause.
size_t offset_of(uint32_t value) {
  using inside::Workspace;
  if (value == inside::kEarlierValue) return offsetof(Workspace, earlier);
  return value == inside::kSeenValue ? offsetof(Workspace, seen) : offsetof(Workspace, time);
}

}  // namespace

std::vector<RecordStep> steps_of(std::span<const std::byte> bytes) {
  inside::RecordProgram program;
  if (bytes.size() < sizeof program) return {};
  std::memcpy(&program, bytes.data(), sizeof program);
  std::vector<RecordStep> steps(std::min<size_t>(program.steps, (bytes.size() - sizeof program) / sizeof(RecordStep)));
  if (!steps.empty()) std::memcpy(steps.data(), bytes.data() + sizeof program, steps.size() * sizeof(RecordStep));
  return steps;
}

std::optional<PlainRecord> plain_record(std::span<const std::byte> bytes) {
  inside::RecordProgram program;
  if (bytes.size() < sizeof program || !reads_cpu_number()) return {};
  std::memcpy(&program, bytes.data(), sizeof program);
  PlainRecord made{.length = program.most, .steps = steps_of(bytes)};
  if (program.cut_at != 0 || made.steps.size() != program.steps) return {};
  for (const RecordStep& step : made.steps) {
    const bool is_saved = step.kind == RecordStep::Kind::saved && step.base < inside::kSavedWords;
    if (!is_saved && step.kind != RecordStep::Kind::constant && step.kind != RecordStep::Kind::thread) return {};
    if (is_saved) made.reads |= 1U << step.base;
  }
  return made;
}

void add_values(CodeWriter& code, const inside::ClauseRecord& clause, int32_t workspace_at, int32_t variables_at) {
  using inside::Workspace, inside::kMostVariables;
  const auto in_workspace = [&](size_t offset) { return workspace_at + static_cast<int32_t>(offset); };
  code.load(Register::rax, uint64_t{inside::kClauseMark} << 32 | clause.number);
  code.store(Register::rax, Register::rcx, kBegin);
  for (uint32_t i = 0; i < clause.count; i++) {
    const uint32_t value = clause.values[i];
    if (value < kMostVariables)
      code.read(Register::rax, Register::rbx, variables_at + static_cast<int32_t>(value * sizeof(uint64_t)));
    else if (value < inside::kTimeValue)
      code.read(Register::rax, Register::rsp,
                in_workspace(offsetof(Workspace, locals) + (value - kMostVariables) * sizeof(uint64_t)));
    else
      code.read(Register::rax, Register::rsp, in_workspace(offset_of(value)));
    const size_t at = sizeof(inside::ClauseRecordHead) + i * sizeof(uint64_t);
    code.store(Register::rax, Register::rcx, kBegin + static_cast<int32_t>(at));
  }
}

void add_record(CodeWriter& code, const PlainRecord& record, uint64_t cookie, int32_t pid, int32_t tid_at) {
  const int32_t begin = kBegin + static_cast<int32_t>(record.before);
  code.add({0xf3, 0x0f, 0xc7, 0xf8});  // rdpid %rax
  code.add({0x25}, 0xfff);             // and $0xfff, %eax
  code.add({0x48, 0xc1, 0xe0, 0x30});  // shl $48, %rax
  code.load(Register::rdx, cookie);
  code.add({0x48, 0x09, 0xd0});  // or %rdx, %rax
  code.store(Register::rax, Register::rcx, begin);
  for (const RecordStep& step : record.steps) add_step(code, step, begin, pid, tid_at);
  code.add({0x48, 0xc7, 0x01}, record.length);  // movq $length, (%rcx)
  if (record.is_seen) {
    using inside::Workspace;
    constexpr auto kFromTid = static_cast<int32_t>(offsetof(Workspace, seen_at)) - static_cast<int32_t>(offsetof(Workspace, tid));
    code.read(Register::rax, Register::rsp, tid_at + kFromTid);
  } else {
    code.add({0x0f, 0x31});              // rdtsc
    code.add({0x48, 0xc1, 0xe2, 0x20});  // shl $32, %rdx
    code.add({0x48, 0x09, 0xd0});        // or %rdx, %rax
  }
  code.store(Register::rax, Register::rcx, offsetof(inside::RecordHead, time));
}

}  // namespace dvm::runtime
