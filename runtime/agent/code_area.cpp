// Covered by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/code_area.h"

#include <algorithm>
#include <cstring>

#include "runtime/agent/frame_rows.h"
#include "runtime/agent/inside_code.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostInsideFunctions = 256;

}  // namespace

uint64_t CodeArea::add(std::span<const std::byte> bytes) {
  content.resize(align(content.size(), 16));
  const uint64_t at = here();
  content.insert(content.end(), bytes.begin(), bytes.end());
  return at;
}

uint64_t CodeArea::add_aggregation(const AgentClause& one) {
  inside::ThreadAggregation clause = one.clause;
  clause.value = add_code(one.value);
  for (size_t i = 0; i < one.keys.size() && i < inside::kMostKeys; i++) {
    clause.keys[i] = one.keys[i].key;
    clause.keys[i].code = add_code(one.keys[i].code);
  }
  return add(std::as_bytes(std::span(&clause, 1)));
}

uint64_t CodeArea::add_record(const AgentClauseRecord& one) {
  inside::ClauseRecord record = one.record;
  record.programs.program = add(one.program);
  if (!one.larger_program.empty()) record.programs.larger_program = add(one.larger_program);
  return add(std::as_bytes(std::span(&record, 1)));
}

uint64_t CodeArea::add_text(const AgentStep& one) {
  const std::vector<uint64_t>& constant = one.text.constant;
  inside::TextAssignment text{.from = one.text.from,
                              .is_tried = one.text.is_tried,
                              .variable = one.text.variable,
                              .count = static_cast<uint32_t>(constant.size())};
  text.from.code = add_code(one.code);
  std::copy(constant.begin(), constant.end(), text.words);
  return add(std::as_bytes(std::span(&text, 1)));
}

uint64_t CodeArea::add_parts(const AgentStep& one) {
  using Kind = inside::ClauseStep::Kind;
  if (is_any_record(one)) return add_record(one.record);
  if (has_text(one)) return add_text(one);
  return one.step.kind == Kind::aggregate ? add_aggregation(one.aggregation) : add_code(one.code);
}

uint64_t CodeArea::add_steps(std::vector<AgentStep>& steps) {
  std::vector<inside::ClauseStep> made;
  for (AgentStep& one : steps) {
    one.step.address = add_parts(one);
    made.push_back(one.step);
  }
  return made.empty() ? 0 : add(std::as_bytes(std::span(made)));
}

// As the kernel wants it, struct rseq_cs. No flags: a signal, a preemption and a migration all end the sequence.
uint64_t CodeArea::add_restart(uint64_t code_at, const inside::CodeEntries& entries) {
  constexpr uint64_t kAlignment = 32;
  const uint64_t descriptor[] = {0, code_at + entries.steady_begin, entries.steady_end - entries.steady_begin,
                                 code_at + entries.steady_abort};
  content.resize(align(here(), kAlignment) - begin());
  return add(std::as_bytes(std::span(descriptor)));
}

uint64_t CodeArea::fixed_frame_bytes() {
  constexpr uint64_t kMostPlainBytes = 64;
  return align(frame_cie().size(), 16) + align(plain_cie().size(), 16) + kMostPlainBytes + sizeof(inside::FrameTable) +
         kMostInsideFunctions * sizeof(inside::FrameEntry);
}

void CodeArea::begin_frames(uint64_t code_at, const inside::CodeEntries& entries) {
  frames_ = frame_entries(inside_code(), entries.frames_begin, entries.frames_end, code_at - range.begin);
  if (frames_.size() > kMostInsideFunctions) frames_.clear();
  const std::vector<unsigned char> cie = frame_cie(), plain = plain_cie();
  cie_ = add(std::as_bytes(std::span(cie)));
  plain_ = add_frame(add(std::as_bytes(std::span(plain))), range, {});
}

uint64_t CodeArea::add_frame(uint64_t cie, const AddressRange& code, std::span<const FrameRow> rows) {
  add({});
  const std::vector<unsigned char> fde = frame_fde(here(), cie, code.begin, code.end - code.begin, rows);
  return add(std::as_bytes(std::span(fde)));
}

void CodeArea::note_frame(const AddressRange& code, uint64_t fde) {
  const auto offset = [this](uint64_t address) { return static_cast<uint32_t>(address - range.begin); };
  frames_.push_back({offset(code.begin), offset(code.end), offset(fde)});
}

void CodeArea::add_frame(uint64_t stub_at, const Stub& stub) {
  const AddressRange code{stub_at, stub_at + stub.bytes.size()};
  note_frame(code, add_frame(cie_, code, stub.frames));
}

uint64_t CodeArea::add_code(const MachineCode& code) {
  if (code.empty()) return 0;
  const uint64_t at = add(std::as_bytes(std::span(code.bytes)));
  note_frame({at, at + code.bytes.size()}, plain_);
  return at;
}

void CodeArea::finish_frames() {
  std::sort(frames_.begin(), frames_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<std::byte> bytes(sizeof(inside::FrameTable) + frames_.size() * sizeof(inside::FrameEntry));
  const inside::FrameTable head{frames_.size()};
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!frames_.empty()) std::memcpy(bytes.data() + sizeof head, frames_.data(), bytes.size() - sizeof head);
  frame_table = add(bytes);
}

}  // namespace dvm::runtime
