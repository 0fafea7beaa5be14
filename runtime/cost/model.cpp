// Equations (1) to (3) over the rows of a profile. Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/model.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "dvm/dif/action.h"
#include "dvm/dif/leaves_record.h"
#include "dvm/vm/operands.h"

namespace dvm::runtime {
namespace {

// By the row of such a value.
vm::CostRange kept(Prices& prices, Row integer, Row row, const dif::Difo& difo) {
  const dif::DataType& type = difo.result;
  if (type.kind == dif::TypeKind::none) return {};
  if (type.kind == dif::TypeKind::integer) return always(prices.of(integer));
  if (type.kind == dif::TypeKind::bytes) return always(prices.of(row, type.size));
  const vm::StringOperand text = vm::result_text(difo);
  const vm::Sizes& sizes = prices.sizes();
  const auto bytes = [&](double otherwise) { return text.bytes > 0 ? text.bytes : otherwise; };
  vm::CostRange sum{prices.of(row, bytes(sizes.least)), prices.of(row, bytes(sizes.expected)), prices.of(row, bytes(sizes.most))};
  if (text.place != vm::StringPlace::literal) sum += always(prices.of(row_of(text.place)));
  return sum;
}

// Takes the counts of the next DIFO.
std::span<const vm::InstructionCount> take(ClauseCounts& instructions) {
  if (instructions.empty()) return {};
  const vm::InstructionCounts& next = instructions.front();
  instructions = instructions.subspan(1);
  return next;
}

// Evaluating it, and what else makes it: a stack or a symbol.
vm::CostRange made(Prices& prices, const dif::ActDesc& action, const dif::RecDesc& value,
                   std::span<const vm::InstructionCount> instructions) {
  vm::CostRange sum = prices.of(value.difo, instructions);
  if (value.made_by != dif::Action::expression && value.made_by != action.kind)
    sum += always(prices.of(row_of(value.made_by), frames_of(prices.sizes(), value)));
  return sum;
}

// The constant that a DIFO loads; 0 if it does more.
double constant_of(const dif::Difo& difo) {
  if (difo.text.size() != 2 || !has_format(difo.text.front(), dif::Format::setx)) return 0;
  const unsigned index = difo.text.front().index();
  return index < difo.integers.size() ? static_cast<double>(difo.integers[index]) : 0;
}

// What a row of an action is priced by: the bytes that a commit finds, the nanoseconds of a chill, the frames of a stack.
double things_of(const Prices& prices, const dif::ActDesc& action, double committed) {
  if (action.kind == dif::Action::commit) return committed;
  if (action.kind == dif::Action::chill) return action.args.empty() ? 0 : constant_of(action.args.front().difo);
  return action.args.empty() ? 0 : frames_of(prices.sizes(), action.args.front());
}

// The share of a clause's runs that come so far, by the counts of a run. A fault ends the others.
class Survivors {
 public:
  // Those that come to the end of a DIFO.
  void pass(const dif::Difo& difo, std::span<const vm::InstructionCount> counts) {
    if (counts.empty() || counts.size() < difo.text.size() || (first_ == 0 && counts.front().entered == 0)) return;
    if (first_ == 0) first_ = static_cast<double>(counts.front().entered);
    double ended = 0;
    for (size_t pc = 0; pc < difo.text.size(); pc++)
      if (dif::is_return(difo.text[pc])) ended += static_cast<double>(counts[pc].entered);
    share_ = ended / first_;
  }
  vm::CostRange expect(vm::CostRange cost) const {
    cost.expected = cost.expected.times(share_);
    return cost;
  }

 private:
  double first_ = 0, share_ = 1;
};

vm::CostRange action_cost(Prices& prices, const dif::ActDesc& action, double committed, ClauseCounts& instructions,
                          Survivors& runs) {
  vm::CostRange sum;
  const bool aggregates = dif::find_aggregation(action.kind) != nullptr;
  const bool records = !aggregates && dif::keeps_values(action.kind);
  for (size_t i = 0; i < action.args.size(); i++) {
    const dif::RecDesc& value = action.args[i];
    const auto counts = take(instructions);
    sum += runs.expect(made(prices, action, value, counts));
    runs.pass(value.difo, counts);
    if (value.made_by != dif::Action::expression) continue;
    if (aggregates && i < action.key_count) sum += runs.expect(kept(prices, "key/integer"_row, "key/string"_row, value.difo));
    if (records) sum += runs.expect(kept(prices, "record/integer"_row, "record/string"_row, value.difo));
  }
  sum += runs.expect(always(prices.of(row_of(action.kind), things_of(prices, action, committed))));
  if (aggregates && action.key_count > 0) sum += runs.expect(always(prices.of("key/any"_row)));
  return sum;
}

bool has_price(const Prices& prices, PricedSource source) {
  for (size_t i = 0; i < kFlowStages.size(); i++)
    if (prices.find(row_of(source, static_cast<FlowStage>(i)))) return true;
  return false;
}

// The source whose rows price such firings: in some profiles one for all sites, or all timers. Nothing: it is none of the table.
std::optional<PricedSource> priced_source(const Prices& prices, std::string_view name) {
  const std::optional<PricedSource> source = find_source(name);
  if (!source || has_price(prices, *source)) return source;
  if (source == PricedSource::pid_return_shared && has_price(prices, PricedSource::pid_return)) return PricedSource::pid_return;
  if (name.starts_with("pid_")) return PricedSource::pid;
  return source == PricedSource::tick ? PricedSource::profile : source;
}

constexpr double kRingHead = 8;  // bytes of a BPF ring buffer's record besides dvm's

void add_memory(CaptureCost& cost, Prices& prices, const MemoryNeed& need) {
  const double bytes = need.is_string ? std::min<double>(prices.sizes().expected, need.size) : need.size;
  const vm::Cost called = prices.of(need.is_string ? "capture/string"_row : "capture/bytes"_row, bytes);
  vm::Cost loaded = called;
  if (prices.loaded > 0) loaded = prices.of(need.is_string ? "agent/lane/heap_string"_row : "agent/lane/heap_bytes"_row, bytes);
  cost.cheapest += loaded, cost.dearest += called;
  cost.thread += loaded.times(prices.loaded) + called.times(1 - prices.loaded);
}

void add_stack(CaptureCost& cost, Prices& thread, Prices& dvm, const CaptureNeeds& needs) {
  const double frames = std::min<double>(dvm.sizes().frames, needs.frames);
  if (needs.stack_bytes == 0) {
    const double entered = std::min(thread.entered, frames);
    cost.thread += thread.of("capture/stack"_row, frames - entered);
    if (entered > 0) cost.thread += thread.of("agent/lane/entered_frame"_row, entered);
  } else {
    cost.thread += thread.of("capture/stack_bytes"_row, needs.stack_bytes);
    cost.dvm += dvm.of("capture/unwind"_row, frames);
  }
}

Row row_of_process(const MemoryNeed& need) {
  if (need.offset == vm::CapturedMemory::kCommandLine) return "capture/command_line"_row;
  if (need.offset == vm::CapturedMemory::kAncestors) return "capture/ancestors"_row;
  return need.offset == vm::CapturedMemory::kWorkingDirectory ? "capture/directory"_row : "capture/number"_row;
}

// Of the process: only what a record of such a site has.
vm::Cost process_cost(Prices& prices, const CaptureNeeds& needs, SiteKind at) {
  CaptureNeeds of_process;
  of_process.command = needs.command, of_process.ancestors = needs.ancestors, of_process.directory = needs.directory;
  of_process.process_numbers = needs.process_numbers;
  vm::Cost sum;
  for (const MemoryNeed& need : possible_needs(of_process, at).memory) sum += prices.of(row_of_process(need));
  return sum;
}

// What an agent asks for by system calls.
vm::Cost asked_cost(Prices& prices, const CaptureNeeds& needs) {
  CaptureNeeds numbers;
  numbers.process_numbers = needs.process_numbers;
  const size_t asked = possible_needs(numbers, SiteKind::entry).memory.size() + (needs.owner ? 2 : 0) + (needs.parent ? 1 : 0);
  return asked == 0 ? vm::Cost{} : prices.of("capture/number"_row).times(static_cast<double>(asked));
}

}  // namespace

SourceCost source_cost(Prices& prices, std::string_view source, double event_bytes) {
  const std::optional<PricedSource> priced = priced_source(prices, source);
  if (!priced || !has_price(prices, *priced)) {
    prices.miss(fmt::format("source/{}", priced ? kSources[static_cast<size_t>(*priced)] : source));
    return {};
  }
  SourceCost cost;
  for (size_t i = 0; i < kFlowStages.size(); i++) {
    const auto stage = static_cast<FlowStage>(i);
    cost.stages[i] = prices.of_optional(row_of(*priced, stage), event_bytes);
    cost.all += cost.stages[i];
    if (stage != FlowStage::handler && source != "replay") cost.thread += cost.stages[i];
  }
  return cost;
}

CaptureCost capture_cost(Prices& prices, Prices& dvm, const CaptureNeeds& needs, std::optional<SiteKind> at) {
  CaptureCost cost;
  const auto add_if = [&](bool is_needed, Row row) {
    if (is_needed) cost.thread += prices.of(row);
  };
  add_if(needs.time, "capture/time"_row);
  add_if(needs.vtime, "capture/cpu_time"_row);
  add_if(needs.thread, "capture/thread"_row);
  add_if(needs.comm, "capture/name"_row);
  if (const int words = std::popcount(needs.args) + std::popcount(needs.registers); words != 0)
    cost.thread += prices.of("capture/argument"_row).times(words);
  if (needs.frames != 0) add_stack(cost, prices, dvm, needs);
  add_if(needs.kernel_frames != 0, "capture/kernel_stack"_row);
  cost.thread += at ? process_cost(prices, needs, *at) : asked_cost(prices, needs);
  cost.cheapest = cost.dearest = cost.thread;
  for (const MemoryNeed& need : needs.memory) add_memory(cost, prices, need);
  return cost;
}

double record_bytes(const RecordLayouts& layouts, double string) {
  const auto fits = [&](const MemorySlot& slot) { return !slot.is_variable() || string < slot.need.size; };
  const auto& slots = layouts.first.slots;
  const bool is_first = !layouts.larger || std::all_of(slots.begin(), slots.end(), fits);
  const RecordLayout& layout = is_first ? layouts.first : *layouts.larger;
  return 8 * std::ceil((layout.is_cut ? std::min<double>(layout.size, layout.least + string) : layout.size) / 8);
}

double ring_bytes(const CaptureNeeds& needs, double string, SiteKind at) {
  const SiteKind shape = at == SiteKind::timer ? at : SiteKind::entry;  // whose arguments are known
  return kRingHead + record_bytes(make_layouts(possible_needs(needs, shape), shape), string);
}

vm::CostRange predicate_cost(Prices& prices, const dif::EcbDesc& clause, ClauseCounts instructions) {
  return clause.predicate ? prices.of(clause.predicate->difo, take(instructions)) : vm::CostRange{};
}

vm::CostRange actions_cost(Prices& prices, const dif::EcbDesc& clause, double committed, ClauseCounts instructions) {
  vm::CostRange sum;
  if (clause.predicate) take(instructions);
  Survivors runs;
  for (const dif::ActDesc& action : clause.actions) sum += action_cost(prices, action, committed, instructions, runs);
  if (leaves_record(clause)) sum += runs.expect(always(prices.of("record/any"_row)));
  return sum;
}

}  // namespace dvm::runtime
