// Plans where probes are put. Tested by tests/unit/instrument/uprobe_test.cpp, tests/unit/code/module_code_test.cpp and, on live
// processes, tests/runtime/scenarios/test_sites.py.
#include "runtime/instrument/uprobe/site_plan.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "runtime/instrument/uprobe/return_plan.h"
#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

// Probes at the beginning of a function. The kernel takes the return address for a uretprobe from there.
bool may_move(const PlannedSite& place) {
  const EnabledProbe& enabled = *place.enabled;
  const bool reads_registers = enabled.needs.registers != 0 && !place.is_return;
  const bool is_at_begin = place.offset == place.site->offset && place.site->is_return == place.is_return;
  return is_at_begin && !enabled.at_entry && !reads_registers && !place.site->inside && place.site->size != 0;
}

// Sites differ in how far the stack has moved only for what lies on it.
bool reads_stack(const CaptureNeeds& needs) {
  constexpr unsigned kInRegisters = 0x3f;
  const auto starts_there = [](const MemoryNeed& need) { return need.base.arg >= 6 && need.base.starts_from_argument(); };
  return needs.frames != 0 || (needs.args & ~kInRegisters) != 0 ||
         std::any_of(needs.memory.begin(), needs.memory.end(), starts_there);
}

// A uretprobe takes the return address, and tells nothing else of the entry.
Told told_by(const PlannedSite& place) {
  if (place.is_return) return 0;
  if (place.site->passed) return kToldOfGo;
  const CaptureNeeds& needs = place.enabled->needs;
  unsigned told = needs.args;
  const auto add = [&](const Word& word) {
    if (word.starts_from_argument()) told |= 1U << word.arg;
  };
  for (const MemoryNeed& need : needs.memory) {
    add(need.base);
    if (need.sized_by) add(*need.sized_by);
  }
  for (const KeptWord& kept : needs.keeps) add(kept.word);
  const unsigned rest = (needs.frames != 0 ? kToldCallers : 0U) | (needs.memory.empty() ? 0U : kToldMemory);
  return static_cast<Told>((told & kToldArguments) | rest);
}

bool reads_vector(const PlannedSite& place) {
  const Operands& args = place.shape.args;
  for (size_t n = 0; n < args.size(); n++)
    if (args[n].kind == Operand::Kind::vector && (place.enabled->needs.args >> n & 1) != 0) return true;
  return false;
}

PlannedSite place_at(const EnabledProbe& enabled, const UprobeSite& site, uint64_t offset) {
  PlannedSite place{&enabled, &site, offset, shape_of(site), {enabled.probe->id, 0, {}}, site.is_return};
  if (site.is_return) place.fired_at.exit = 0;
  return place;
}

// Then it lies at no beginning, and does not move.
void begin_behind(PlannedSite& place) {
  place.offset += place.site->behind;
  place.fired_at.moved = place.site->behind;
}

void add_exits(const EnabledProbe& enabled, const UprobeSite& site, const ReturnPlan& plan, std::vector<PlannedSite>& places) {
  for (const uint32_t exit : plan.exits) {
    PlannedSite place = place_at(enabled, site, site.offset + exit);
    place.shape = exit_shape_of(site);
    place.fired_at.exit = exit;
    place.is_return = false;
    places.push_back(std::move(place));
  }
}

// True if a clause walks the stack to the callers of a function.
bool any_shows_callers(std::span<const EnabledProbe> probes) {
  return std::any_of(probes.begin(), probes.end(), [](const EnabledProbe& one) { return one.needs.frames > 1; });
}

// From Linux 6.11 on, the kernel takes a push of the frame pointer and endbr64 for the begin of a function.
bool is_entry_to_kernel(CodeBytes code) {
  constexpr std::array<unsigned char, 1> kPushFramePointer{0x55};
  constexpr std::array<unsigned char, 4> kEndbr64{0xf3, 0x0f, 0x1e, 0xfa};
  const auto begins = [&](CodeBytes with) { return std::ranges::equal(code.first(std::min(code.size(), with.size())), with); };
  return begins(kPushFramePointer) || begins(kEndbr64);
}

// From Linux 6.18 on, a probed nop of five bytes becomes a call.
bool kernel_rewrites_nops() {
  utsname names{};
  uname(&names);
  unsigned major = 0, minor = 0;
  return std::sscanf(names.release, "%u.%u", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 18));
}

class SitePlanner {
 public:
  SitePlanner(std::span<const EnabledProbe> probes, std::vector<Refused>& refused, ModuleCodes& files, bool in_all_processes)
      : files_(files), returns_(in_all_processes), shows_callers_(any_shows_callers(probes)), refused_(refused) {}

  void add(const EnabledProbe& enabled, const UprobeSite& site) {
    if (site.is_return) return add_return(enabled, site);
    places_.push_back(place_at(enabled, site, site.offset));
    if (!enabled.at_entry) begin_behind(places_.back());
  }

  std::vector<PlannedSite> take() {
    move_entries();
    find_callers();
    refuse_harmful();
    return std::move(places_);
  }

 private:
  void add_return(const EnabledProbe& enabled, const UprobeSite& site) {
    const CaptureNeeds& needs = enabled.needs;
    const ReturnWants wants = {(needs.args & 1) != 0, (needs.args & 2) != 0, shows_callers_,
                               (needs.frames | needs.registers) != 0};
    const ReturnPlan plan = returns_.plan(site, files_.open(site.path).get(), wants, enabled.returns);
    if (plan.by == ReturnPlan::By::exits) return add_exits(enabled, site, plan, places_);
    if (plan.by == ReturnPlan::By::nothing) {
      refuse(*enabled.probe, std::string(plan.why_not));
      return;
    }
    places_.push_back(place_at(enabled, site, site.offset));
    places_.back().fired_at.exit = plan.only_exit.value_or(0);
    places_.back().hazards = plan.hazards;
  }

  void move_entries();

  void find_callers() {
    for (PlannedSite& place : places_)
      if (place.enabled->needs.frames > 1 && place.shape.may_name_caller)
        if (const auto file = files_.open(place.site->path))
          place.shape.may_name_caller = is_entry_to_kernel(file->bytes(place.offset, kLongest));
  }

  // Why a probe there would harm the process or tell what is wrong; null: it would not.
  const char* harm_at(const PlannedSite& place) {
    if (reads_vector(place)) return kVector;
    const auto file = files_.open(place.site->path);
    if (!file) return is_gone(place.site->pid) ? kGone : kUnread;
    const auto instruction = decode_instruction(file->bytes(place.offset, kLongest), 0);
    if (!instruction) return kUnknown;
    if (file->is_restartable(place.offset)) return kRestarts;
    if (instruction->is_misread) return kMisread;
    if (is_signal_return(file->file(), place.offset)) return kNestsHandlers;
    if (instruction->saves_flags) return instruction->flow == Flow::elsewhere ? kLeaksFlags : kSavesFlags;
    if (instruction->is_repeated) return kRepeats;
    const bool is_inside = place.site->inside || place.site->behind != 0;  // choose_entry() knows what moved entries keep
    const bool becomes_call = instruction->cost == FiringCost::rewritten && is_inside && kernel_rewrites_nops();
    return becomes_call ? kOverwrites : nullptr;
  }

  void refuse_harmful() {
    for (const PlannedSite& place : places_)
      if (const char* harm = harm_at(place)) refuse(*place.enabled->probe, harm);
    std::erase_if(places_, [&](const PlannedSite& place) { return left_out_.contains(place.enabled->probe); });
  }

  // A probe of which one place is refused has none.
  void refuse(const Probe& probe, std::string reason) {
    if (left_out_.insert(&probe).second) refused_.push_back({&probe, std::move(reason)});
  }

  static constexpr size_t kLongest = 15;  // bytes of an instruction
  static constexpr const char* kVector =
      "a clause reads an argument in a vector register, which the kernel does not show to a uprobe; -x backend=agent can read it";
  static constexpr const char* kGone = "its process has ended";
  static constexpr const char* kUnread = "its file cannot be read, so it is not known what a probe there would do";
  static constexpr const char* kUnknown = "no instruction that dvm knows begins there";
  static constexpr const char* kMisread =
      "the kernel would mistake this vector instruction for a branch, and the program would continue at a wrong address";
  static constexpr const char* kSavesFlags =
      "the kernel steps this pushf with the trap flag set, which it saves, and the process would end by SIGTRAP; use "
      "-x backend=breakpoint";
  static constexpr const char* kLeaksFlags =
      "the kernel steps this system call with the trap flag set, which the process would find in %r11; use -x backend=breakpoint";
  static constexpr const char* kRestarts =
      "it lies in a restartable sequence (rseq), and the kernel would not see that the sequence is interrupted";
  static constexpr const char* kRepeats =
      "the probe would fire at each repetition of this string instruction; with -x backend=breakpoint it fires once";
  static constexpr const char* kOverwrites =
      "from Linux 6.18 on, the kernel turns this nop of five bytes into a call, which overwrites what a leaf function keeps "
      "below its stack pointer; build with one-byte nops, as 'dvm header' makes them";

  ModuleCodes& files_;
  ReturnPlanner returns_;
  bool shows_callers_;
  std::vector<Refused>& refused_;
  std::set<const Probe*> left_out_;
  std::vector<PlannedSite> places_;
};

void move(PlannedSite& place, const EntryPlace& to) {
  if (place.is_return && to.stack_moved != 0) return;
  place.offset += to.moved;
  place.fired_at.moved = to.moved;
  if (place.is_return) return;
  if (place.site->passed || reads_stack(place.enabled->needs)) place.shape = entry_shape_of(*place.site, to.stack_moved);
}

// Instructions that are probed themselves, by file.
using Instructions = std::map<std::string, std::set<uint64_t>>;

// An entry comes before the instructions of its function.
bool is_in_order(const PlannedSite& place, const EntryPlace& to, const std::set<uint64_t>& instructions) {
  const auto first = instructions.lower_bound(place.offset);
  return first == instructions.end() || *first > place.offset + to.moved;
}

// Moves the places of one file that may move.
void move_in(const ModuleCode& file, const std::vector<PlannedSite*>& places, const std::set<uint64_t>& instructions) {
  std::vector<EntrySought> entries;
  for (const PlannedSite* place : places)
    entries.push_back({{place->site->offset, place->site->size, place->site->alone}, told_by(*place)});
  const std::vector<EntryPlace> chosen = choose_entries(file, entries);
  for (size_t i = 0; i < places.size(); i++)
    if (chosen[i].moved != 0 && is_in_order(*places[i], chosen[i], instructions)) move(*places[i], chosen[i]);
}

void SitePlanner::move_entries() {
  std::map<std::string, std::vector<PlannedSite*>> by_file;
  Instructions instructions;
  for (PlannedSite& place : places_) {
    if (place.site->inside) instructions[place.site->path].insert(place.offset);
    if (may_move(place)) by_file[place.site->path].push_back(&place);
  }
  for (const auto& [path, movable] : by_file)
    if (const auto file = files_.open(path)) move_in(*file, movable, instructions[path]);
}

}  // namespace

bool uses_kept_words(const EnabledProbe& enabled) {
  const auto starts_there = [](const MemoryNeed& need) {
    return need.base.starts_from_kept() || (need.sized_by && need.sized_by->starts_from_kept());
  };
  const std::vector<MemoryNeed>& memory = enabled.needs.memory;
  return !enabled.needs.keeps.empty() || std::any_of(memory.begin(), memory.end(), starts_there);
}

std::vector<EntryPlace> choose_entries(const ModuleCode& file, std::span<const EntrySought> entries) {
  std::vector<EntryPlace> places;
  std::map<uint64_t, ModuleCode::Window> moved;  // as far as any probe of the function moves
  for (const auto& [function, told] : entries) {
    places.push_back(choose_entry(file.bytes(function.offset, function.size), function.alone, told));
    if (places.back().moved == 0) continue;
    ModuleCode::Window& window = moved[function.offset];
    window = {function, std::max(window.last, function.offset + places.back().moved)};
  }
  std::vector<ModuleCode::Window> windows;
  for (const auto& [offset, window] : moved) windows.push_back(window);
  file.find_entered(windows);
  for (const ModuleCode::Window& window : windows) moved[window.function.offset].is_entered = window.is_entered;
  for (size_t i = 0; i < places.size(); i++)
    if (places[i].moved != 0 && moved[entries[i].function.offset].is_entered) places[i] = {};
  return places;
}

std::vector<PlannedSite> plan_sites(std::span<const EnabledProbe> probes, std::vector<Refused>& refused, ModuleCodes& files,
                                    bool in_all_processes) {
  SitePlanner planner(probes, refused, files, in_all_processes);
  for (const EnabledProbe& enabled : probes) {
    const auto* first = std::get_if<UprobeSite>(&enabled.probe->site);
    if (!first) continue;
    planner.add(enabled, *first);
    for (const UprobeSite& site : enabled.probe->more_sites) planner.add(enabled, site);
  }
  return planner.take();
}

}  // namespace dvm::runtime
