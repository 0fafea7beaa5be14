// Covered by tests/runtime/scenarios/test_agent.py.

#include "runtime/instrument/agent/agent_planner.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "runtime/agent/site_groups.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/code/flags_use.h"
#include "runtime/code/frame_index.h"
#include "runtime/instrument/agent/record_program.h"
#include "runtime/instrument/agent/text_key.h"
#include "runtime/process/captured_numbers.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kEntered = "a branch from elsewhere may lead into its first five bytes";
constexpr std::string_view kOverlaps = "another probe lies in its first five bytes";
constexpr std::string_view kHasSymbol = "another symbol lies in its first five bytes";
constexpr std::string_view kNoRelay = "there are no five bytes to replace where it returns";
constexpr std::string_view kSignalReturn = "unwinders recognize the return from signal handlers by its bytes";
constexpr std::string_view kSeveral = "a clause asks for arg0, and several jumps lead to one return";
constexpr std::string_view kNoExits = "no instruction leaves the function";

constexpr uint64_t kLongestInstruction = 15;

// Said before anything is placed: a uprobe that takes one probe of a function would break the jump of another.
bool crosses_page(uint64_t address, uint32_t bytes = kJumpBytes) {
  constexpr uint64_t kPageBytes = 4096;
  return address / kPageBytes != (address + bytes - 1) / kPageBytes;
}

using Placed = std::pair<pid_t, uint64_t>;  // at an address

// The part of a firing that only uprobes capture. Empty: there is none. Where there are no uprobes, breakpoints would be a poor
// substitute: they follow no forks. What the kernel says of the process when the clause runs is better.
std::string_view uncaptured(const CaptureNeeds& needs, bool has_uprobes) {
  using namespace process_number;
  constexpr uint32_t kUnanswered =
      1u << threads | 1u << nice | 1u << priority | 1u << running;  // by a system call of the thread alone
  if (needs.has_file()) return "only uprobes capture open files";
  if (!has_uprobes) return "";
  if (needs.directory) return "only uprobes capture the working directory";
  if (needs.ancestors) return "only uprobes capture ancestors of the process";
  if ((needs.process_numbers & 1u << parent_name) != 0) return "only uprobes capture the name of the parent";
  return (needs.process_numbers & kUnanswered) != 0 ? "only uprobes capture priorities and numbers of threads" : "";
}

constexpr uint32_t kUsersAndGroups =
    1u << process_number::uid | 1u << process_number::gid | 1u << process_number::euid | 1u << process_number::egid;

bool reads_users(const CaptureNeeds& needs) { return needs.owner || (needs.process_numbers & kUsersAndGroups) != 0; }

// The thread would be told the numbers of its own user namespace.
std::string_view uncaptured_users(const CaptureNeeds& needs, pid_t pid, bool has_uprobes) {
  if (!has_uprobes || !reads_users(needs) || !has_other_users(pid)) return "";
  return "only uprobes capture users and groups of a process in another user namespace";
}

constexpr uint32_t kRelatives = 1u << process_number::ppid | 1u << process_number::pgid | 1u << process_number::sid;

bool reads_relatives(const CaptureNeeds& needs) { return needs.parent || (needs.process_numbers & kRelatives) != 0; }

// Likewise of its PID namespace.
std::string_view uncaptured_relatives(const CaptureNeeds& needs, pid_t pid, bool has_uprobes) {
  if (!has_uprobes || !reads_relatives(needs) || !has_own_ids(pid)) return "";
  return "only uprobes capture the parent, group and session of a process in another PID namespace";
}

// dvm asks for them when the clause runs.
void drop_foreign(CaptureNeeds& needs, pid_t pid) {
  if (reads_users(needs) && has_other_users(pid)) needs.owner = false, needs.process_numbers &= ~kUsersAndGroups;
  if (reads_relatives(needs) && has_own_ids(pid)) needs.parent = false, needs.process_numbers &= ~kRelatives;
}

// Identifies a function of a process.
using FunctionKey = std::pair<pid_t, std::pair<const ModuleCode*, uint64_t>>;

}  // namespace

const AgentPlanner::File& AgentPlanner::file_at(const std::string& path) {
  const auto [file, is_new] = read_.try_emplace(path);
  if (!is_new) return file->second;
  file->second.code = files_->open(path);
  if (auto elf = elfs_.read(path)) file->second.elf = *std::move(elf);
  return file->second;
}

std::optional<FunctionExtent> AgentPlanner::function_of(const UprobeSite& site, const File& file) {
  if (!site.inside && site.size != 0) return FunctionExtent{site.offset, site.size, site.alone};
  const auto address = file.elf ? file.elf->address_of(site.offset) : std::nullopt;
  if (!address) return std::nullopt;
  uint64_t begin = 0, size = 0;
  if (const ElfFunction* found = file.elf->function_at(*address)) {
    begin = found->address, size = found->size;
  } else if (const auto framed = framed_function(file.code->file(), *address)) {
    begin = framed->address, size = framed->size;
  }
  if (size == 0 || *address - begin > site.offset || *address - begin >= size) return std::nullopt;
  return FunctionExtent{site.offset - (*address - begin), size, size};
}

std::optional<uint64_t> AgentPlanner::address_of(const UprobeSite& site, uint64_t offset) {
  const auto [known, is_new] = objects_.try_emplace(site.pid);
  if (is_new)
    if (auto found = mapped_objects(site.pid)) known->second = std::move(*found);
  for (const MappedObject& object : known->second)
    if (object.open_path == site.path && object.address != 0 && offset >= object.offset)
      return object.address + (offset - object.offset);
  return std::nullopt;
}

// Returns why its function cannot be changed.
std::string_view AgentPlanner::locate(Candidate& candidate) {
  const UprobeSite& site = *candidate.site;
  const File& file = file_at(site.path);
  candidate.code = file.code.get(), candidate.elf = file.elf.get();
  if (candidate.code == nullptr) return "its file cannot be read";
  if (candidate.code->is_go()) return "code of Go may be interrupted anywhere, and continue elsewhere";
  const auto function = function_of(site, file);
  if (!function) return "the bounds of its function are not known";
  candidate.function = *function;
  const auto address = address_of(site, function->offset);
  if (!address) return "its file is not mapped as code";
  candidate.address = *address;
  return semaphores_.find(site, candidate.elf, *address, function->offset, candidate.semaphore);
}

const FunctionCode& AgentPlanner::decode(const Candidate& candidate) { return candidate.code->decode(candidate.function); }

std::string_view AgentPlanner::refusal_of(const Candidate& candidate) {
  if (!candidate.window.refusal.empty()) return candidate.window.refusal;
  const uint32_t replaced = candidate.relays.empty() ? kJumpBytes : kShortJumpBytes;
  if (crosses_page(candidate.window_address(), replaced)) return kCrossesPage;
  for (uint64_t at = candidate.window_offset(); at < candidate.window_offset() + candidate.window.length; at++)
    if (is_signal_return(candidate.code->file(), at)) return kSignalReturn;
  return has_symbol_inside(candidate) ? kHasSymbol : std::string_view();
}

// Returns why there is no window.
std::string_view AgentPlanner::fill(Candidate& candidate) {
  const FunctionExtent& function = candidate.function;
  candidate.probed = static_cast<uint32_t>(candidate.site->offset - function.offset);
  const CodeBytes bytes = candidate.code->bytes(function.offset, function.size);
  candidate.window = find_window(bytes, decode(candidate), candidate.probed);
  return refusal_of(candidate);
}

// At the instruction that is probed.
std::string_view AgentPlanner::fill_exit(Candidate& candidate) {
  const CodeBytes code = with_padding(candidate);
  const FunctionCode& decoded = decode(candidate);
  candidate.window = find_exit_window(code, decoded, candidate.probed);
  if (candidate.window.refusal.empty()) return refusal_of(candidate);
  const JumpWindow narrow = find_exit_window(code, decoded, candidate.probed, kShortJumpBytes);
  if (narrow.refusal.empty()) candidate.relays = find_relays(code, decoded, narrow.begin);
  if (!candidate.relays.empty()) candidate.window = narrow;
  return refusal_of(candidate);
}

// The function and what is only there to align the next one: no symbol begins there, and no unwinder knows code there.
CodeBytes AgentPlanner::with_padding(const Candidate& candidate) {
  const FunctionExtent& function = candidate.function;
  const ElfObject* elf = candidate.elf;
  const auto end = elf != nullptr ? elf->address_of(function.offset + function.size - 1) : std::nullopt;
  uint64_t padding = 0;
  while (end && padding < kLongestInstruction && !framed_function(candidate.code->file(), *end + 1 + padding)) padding++;
  return candidate.code->bytes(function.offset, function.size + padding);
}

// Behind its beginning: other code may call or jump to that by a pointer.
bool AgentPlanner::has_symbol_inside(const Candidate& candidate) {
  const auto address = candidate.elf != nullptr ? candidate.elf->address_of(candidate.window_offset()) : std::nullopt;
  if (!address) return false;
  const auto& functions = candidate.elf->functions();
  const auto next = std::upper_bound(functions.begin(), functions.end(), *address,
                                     [](uint64_t a, const ElfFunction& function) { return a < function.address; });
  return next != functions.end() && next->address < *address + candidate.window.length;
}

void AgentPlanner::add(const EnabledProbe& enabled, const UprobeSite& site) {
  Candidate candidate{.enabled = &enabled, .site = &site};
  const std::string_view unlocated = locate(candidate);  // in any case: a uprobe then lies in the function, where no jump may
  candidate.refusal = uncaptured(enabled.needs, !by_breakpoints_);
  if (candidate.refusal.empty()) candidate.refusal = uncaptured_users(enabled.needs, site.pid, !by_breakpoints_);
  if (candidate.refusal.empty()) candidate.refusal = uncaptured_relatives(enabled.needs, site.pid, !by_breakpoints_);
  if (candidate.refusal.empty()) candidate.refusal = unlocated;
  if (candidate.refusal.empty() && site.is_return) return add_exits(candidate);
  if (candidate.refusal.empty()) candidate.refusal = fill(candidate);
  candidates_.push_back(candidate);
}

// At each instruction that leaves the function. One that jumps to another function would be too early, and has no value: then
// it is at those that leave the other one, too.
void AgentPlanner::add_exits(const Candidate& candidate) {
  if (candidate.enabled->returns == ReturnBy::uretprobe && !by_breakpoints_) {
    candidates_.push_back(candidate);
    candidates_.back().refusal = "-x return=uretprobe asks for a uretprobe";
    return;
  }
  const Exits exits = returns_.exits_of(*candidate.site, *candidate.code);
  const FunctionCode& code = decode(candidate);
  const bool all_return = std::all_of(exits.offsets.begin(), exits.offsets.end(), [&](uint32_t offset) {
    return code.at(offset) != nullptr && code.at(offset)->flow == Flow::return_;
  });
  if (!exits.is_complete || !all_return) return add_tails(candidate, exits);
  add_at(candidate, exits.offsets);
  if (!exits.offsets.empty()) return;
  candidates_.push_back(candidate);
  candidates_.back().refusal = kNoExits;
}

void AgentPlanner::add_at(const Candidate& candidate, std::span<const uint32_t> exits) {
  for (const uint32_t offset : exits) {
    Candidate& made = candidates_.emplace_back(candidate);
    made.exit = made.probed = offset;
    made.refusal = fill_exit(made);
    if (!made.refusal.empty()) return;
  }
}

// At the jumps of a function that others return for, as the probe is by uprobes. The value is not known there.
bool AgentPlanner::may_fire_at_jumps(const Candidate& candidate, const Exits& exits) {
  constexpr uint16_t kValue = 1 << 1;
  return exits.is_complete && (candidate.enabled->needs.args & kValue) == 0 &&
         std::all_of(exits.offsets.begin(), exits.offsets.end(), [&](uint32_t offset) {
           return tails_.is_as_entered(candidate.site->path, candidate.function.offset + offset);
         });
}

void AgentPlanner::add_tails(const Candidate& candidate, const Exits& known) {
  const TailExits exits = tails_.find(candidate.site->path, *candidate.code, candidate.function);
  const auto add_one = [&](const auto& fill) {
    Candidate& made = candidates_.emplace_back(candidate);
    made.refusal = fill(made);
    return made.refusal.empty();
  };
  if (!exits.refusal.empty()) {
    if (may_fire_at_jumps(candidate, known)) return add_at(candidate, known.offsets);
    add_one([&](Candidate&) { return exits.refusal; });
    return;
  }
  for (const uint32_t offset : exits.returns)
    if (!add_one([&](Candidate& made) { return made.exit = made.probed = offset, fill_exit(made); })) return;
  for (const TailExits::Jump& jump : exits.jumps)
    if (!add_one([&](Candidate& made) { return fill_jump(made, jump); })) return;
  const bool wants_offset = (candidate.enabled->needs.args & 1) != 0;
  for (const TailExits::Other& other : exits.others)
    if (!add_one([&](Candidate& made) { return fill_other(made, other, wants_offset); })) return;
  if (exits.returns.empty() && exits.others.empty()) add_one([](Candidate&) { return kNoExits; });
}

std::string_view AgentPlanner::fill_jump(Candidate& made, const TailExits::Jump& jump) {
  made.tail = inside::Tail::leaves;
  made.left = made.address;
  made.probed = jump.offset;
  made.is_conditional = jump.is_conditional;
  if (!jump.is_conditional) return fill_exit(made);
  made.window = find_window(made.code->bytes(made.function.offset, made.function.size), decode(made), jump.offset);
  return refusal_of(made);
}

std::string_view AgentPlanner::fill_other(Candidate& made, const TailExits::Other& other, bool wants_offset) {
  if (wants_offset && !other.by) return kSeveral;
  made.tail = inside::Tail::returns;
  made.left = made.address;
  made.depth = other.depth;
  made.exit = other.by.value_or(0);
  made.address = made.address + other.function.offset - made.function.offset;
  made.function = other.function;
  made.probed = other.offset;
  return is_watched(made) ? kLeavesToWatched : fill_exit(made);
}

// By each file as a whole.
void AgentPlanner::refuse_entered() {
  std::map<const ModuleCode*, std::vector<ModuleCode::Window>> windows;
  for (const Candidate& one : candidates_) {
    if (!one.refusal.empty()) continue;
    const uint64_t rest = std::max<uint64_t>(one.function.size - one.window.begin, one.window.length);
    windows[one.code].push_back({{one.window_offset(), rest, 0}, one.window_offset() + one.window.length - 1});
    const uint64_t before = one.function.offset + one.relay - 1;  // not even the first byte of a relay may be entered
    if (one.relay != 0) windows[one.code].push_back({{before, kJumpBytes + 1, 0}, before + kJumpBytes});
  }
  std::set<std::pair<const ModuleCode*, uint64_t>> entered;
  for (auto& [code, its] : windows) {
    code->find_entered(its);
    for (const ModuleCode::Window& window : its)
      if (window.is_entered) entered.emplace(code, window.function.offset);
  }
  for (Candidate& one : candidates_) {
    const bool is_relay_entered = one.relay != 0 && entered.contains({one.code, one.function.offset + one.relay - 1});
    if (one.refusal.empty() && (is_relay_entered || entered.contains({one.code, one.window_offset()}))) one.refusal = kEntered;
  }
}

// Apart from all windows and other relays. Probes of one place have the same.
void AgentPlanner::choose_relays() {
  std::map<Placed, uint64_t> taken, chosen;  // the ends of what is replaced; relays, by their windows
  for (const Candidate& one : candidates_)
    if (one.refusal.empty()) taken[{one.site->pid, one.window_address()}] = one.window_address() + one.window.length;
  const auto is_free = [&](pid_t pid, uint64_t begin) {
    auto after = taken.lower_bound({pid, begin});
    if (after != taken.end() && after->first < Placed(pid, begin + kJumpBytes)) return false;
    return after == taken.begin() || (--after)->first.first != pid || after->second <= begin;
  };
  for (Candidate& one : candidates_) {
    if (!one.refusal.empty() || one.relays.empty()) continue;
    uint64_t& relay = chosen[{one.site->pid, one.window_address()}];
    for (const uint32_t offset : one.relays) {
      const uint64_t address = one.address + offset;
      if (relay != 0 || crosses_page(address) || !is_free(one.site->pid, address)) continue;
      relay = address;
      taken[{one.site->pid, address}] = address + kJumpBytes;
    }
    one.relay = relay == 0 ? 0 : static_cast<uint32_t>(relay - one.address);
    if (one.relay == 0) one.refusal = kNoRelay;
  }
}

// Several probes may fire at one place, but windows must not overlap.
void AgentPlanner::refuse_overlaps() {
  std::vector<Candidate*> sorted;
  for (Candidate& one : candidates_)
    if (one.refusal.empty()) sorted.push_back(&one);
  const auto place = [](const Candidate* one) { return std::pair(one->site->pid, one->window_address()); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
  std::pair<pid_t, uint64_t> last, end;
  uint32_t probed = 0;
  bool is_conditional = false;
  for (Candidate* one : sorted) {
    const auto begin = place(one);
    const bool is_same = begin == last && one->probed == probed && one->is_conditional == is_conditional;
    if (begin.first == end.first && !is_same && begin < end) {
      one->refusal = kOverlaps;
      continue;
    }
    last = begin, probed = one->probed, is_conditional = one->is_conditional;
    end = {begin.first, begin.second + one->window.length};
  }
}

void AgentPlanner::refuse_with_function(std::vector<Refused>& refused) {
  const auto key = [](const Candidate& one) { return FunctionKey{one.site->pid, {one.code, one.function.offset}}; };
  std::set<FunctionKey> mixed;
  std::set<const Probe*> out;
  // Until nothing changes: a probe with several places takes its other functions with it.
  for (bool any = true; any;) {
    any = false;
    for (Candidate& one : candidates_) {
      if (one.refusal.empty() && out.contains(one.enabled->probe)) one.refusal = kNotAlone;
      if (one.refusal.empty() && mixed.contains(key(one))) one.refusal = kNotAlone;
      if (one.refusal.empty()) continue;
      any |= out.insert(one.enabled->probe).second;
      if (one.function.size != 0 && !may_mix(one)) any |= mixed.insert(key(one)).second;
    }
  }
  std::map<const Probe*, std::string_view> reasons;
  for (const Candidate& one : candidates_)
    if (std::string_view& reason = reasons[one.enabled->probe]; reason.empty() || reason == kNotAlone) reason = one.refusal;
  for (const Candidate& one : candidates_)  // in their order, in which probes of one place are to fire
    if (auto found = reasons.extract(one.enabled->probe); found && !found.mapped().empty())
      refused.push_back({one.enabled->probe, std::string(found.mapped())});
}

template <class Record>
Status AgentPlanner::add_programs(const Candidate& candidate, CaptureNeeds needs, Record& to, uint64_t& cookie,
                                  uint64_t& larger_cookie) {
  const SiteShape shape = shape_at(candidate);
  needs.thread = true;
  drop_foreign(needs, candidate.site->pid);
  delivery_.choose_stack(needs, candidate.site->pid, shape.kind);
  const RecordLayouts layouts = make_agent_layouts(possible_needs(needs, shape), shape);
  const auto group = delivery_.share(layouts, candidate.site->pid, candidate.fired_at());
  if (!group) return group.error();
  const uint32_t number = delivery_.number(candidate.fired_at());
  cookie = make_cookie(number, *group);
  to.program = make_record_program(layouts.first);
  if (!layouts.larger) return {};
  larger_cookie = make_cookie(number, static_cast<uint16_t>(*group + 1));
  to.larger_program = make_record_program(*layouts.larger);
  return {};
}

Status AgentPlanner::add_record(const Candidate& candidate, AgentStep& step) {
  AgentClauseRecord& to = step.record;
  const SiteClause& clause = candidate.enabled->clauses[to.clause];
  const bool has_fault = step.step.kind == inside::ClauseStep::Kind::fault_record;
  const ClauseRecordPlan& plan = has_fault ? *clause.fault : *clause.record;
  CaptureNeeds needs = plan.needs;
  needs.time |= candidate.enabled->needs.time;
  inside::RecordPrograms& programs = to.record.programs;
  if (Status added = add_programs(candidate, needs, to, programs.cookie, programs.larger_cookie); !added) return added;
  KnownRecord known{.epid = plan.epid,
                    .cookies = {programs.cookie, programs.larger_cookie},
                    .has_time = plan.needs.time,
                    .has_fault = has_fault,
                    .ends_run = plan.ends_run,
                    .is_seen = to.record.is_seen != 0};
  for (const dif::Variable& one : plan.variables)
    if (one.scope != dif::Scope::global || globals_.are_kept({&one.id, 1}))
      known.variables.push_back({one.scope, one.id, 0, is_thread_text(one)});
  to.record.number = records_.add(std::move(known));
  return {};
}

SiteShape AgentPlanner::shape_at(const Candidate& candidate) {
  return candidate.exit ? exit_shape_of(*candidate.site) : shape_of(*candidate.site);
}

AgentSite AgentPlanner::site_of(const Candidate& candidate) {
  const JumpWindow& window = candidate.window;
  const CodeBytes bytes = candidate.code->bytes(candidate.window_offset(), window.length);
  AgentSite site;
  site.function = candidate.address;
  site.window_address = candidate.window_address();
  site.window = {bytes.begin(), bytes.end()};
  site.copied = window.copied;
  site.probed = candidate.probed - window.begin;
  site.is_conditional = candidate.is_conditional;
  site.raises = signals_of(candidate);
  site.keeps_flags =
      !overwrites_flags(candidate.code->bytes(candidate.function.offset, candidate.function.size), candidate.probed);
  if (candidate.relay == 0) return site;
  const CodeBytes padding = candidate.code->bytes(candidate.function.offset + candidate.relay, kJumpBytes);
  site.relay = candidate.address + candidate.relay;
  site.padding = {padding.begin(), padding.end()};
  return site;
}

void AgentPlanner::find_windows(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
  forget_files();
  for (const EnabledProbe& enabled : probes) {
    add(enabled, std::get<UprobeSite>(enabled.probe->site));
    for (const UprobeSite& site : enabled.probe->more_sites) add(enabled, site);
  }
  choose_relays();
  refuse_entered();
  refuse_raising();
  refuse_overlaps();
  refuse_with_function(refused);
  put_outer_last();
}

Result<PlannedProcesses> AgentPlanner::plan(std::span<const EnabledProbe> probes, std::vector<Refused>& refused,
                                            const std::set<pid_t>& anew) {
  forget(anew);
  find_windows(probes, refused);
  PlannedProcesses planned;
  std::map<Placed, size_t> known;
  std::vector<ClauseSteps> steps = all_steps();
  for (size_t i = 0; i < candidates_.size(); i++) {
    const Candidate& one = candidates_[i];
    if (!one.refusal.empty()) continue;
    std::vector<AgentPlannedSite>& sites = planned[one.site->pid];
    const auto [place, is_new] = known.try_emplace({one.site->pid, one.window_address()}, sites.size());
    if (is_new) sites.push_back({site_of(one), {}});
    sites[place->second].site.add_semaphore(one.semaphore);
    if (Status added = add(one, steps[i], sites[place->second]); !added) return added.error();
  }
  for (auto& [pid, sites] : planned) add_watches(pid, sites), add_takers(pid, sites);
  refuse_unwatched(planned, refused);
  return planned;
}

Status AgentPlanner::add(const Candidate& candidate, ClauseSteps& steps, AgentPlannedSite& to) {
  AgentFirer firer;
  firer.probe = candidate.enabled->probe->id;
  firer.tail = candidate.tail;
  firer.function = candidate.left;
  if (candidate.tail != inside::Tail::leaves)
    if (Status added = add_programs(candidate, candidate.enabled->needs, firer, firer.cookie, firer.larger_cookie); !added)
      return added;
  for (AgentStep& step : steps.steps)
    if (is_any_record(step))
      if (Status added = add_record(candidate, step); !added) return added;
  firer.has_variables = steps.are_in_thread() && shares(*candidate.enabled);
  firer.steps = std::move(steps.steps);
  firer.locals = steps.locals;
  to.site.firers.push_back(std::move(firer));
  to.probes.push_back(candidate.enabled->probe);
  to.in_dvm.push_back(steps.in_dvm);
  to.enabled.push_back(candidate.enabled);
  return {};
}

}  // namespace dvm::runtime
