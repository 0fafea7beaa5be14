// Listings. Covered by tests/runtime/scenarios/test_list.py and test_command.py.

#include "cmd/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cmd/command.h"
#include "cmd/target_catalog.h"
#include "common/printable.h"
#include "dvm/dif/probe_desc.h"
#include "dvm/dif/text.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/session/demangled_probes.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::cmd {

namespace {

constexpr unsigned kUretprobe = 400;  // ns that the kernel's trap at the return adds

// The role of the place in its function.
std::string kind_of(const runtime::PlannedSite& place) {
  if (place.is_return) return ", a uretprobe";
  if (place.fired_at.exit) return ", where the function returns";
  return place.fired_at.moved == 0 ? "" : fmt::format(", 0x{:x} after the entry", place.fired_at.moved);
}

std::string site_text(const runtime::PlannedSite& place, const runtime::ModuleCode& file) {
  const runtime::CodeBytes code = file.bytes(place.offset, 16);
  const auto instruction = runtime::decode_instruction(code, 0);
  if (!instruction) return "no instruction";
  const unsigned cost = expected_ns(instruction->cost) + (place.is_return ? kUretprobe : 0);
  return fmt::format("{} ({}, about {} ns per firing{})", runtime::instruction_text(code, place.offset),
                     name_of(instruction->cost), cost, runtime::is_doubtful(code) ? "; the kernel may refuse it" : "");
}

class SiteDescriber {
 public:
  explicit SiteDescriber(runtime::ModuleCodes& files) : files_(files) {}
  std::string line(std::string_view what, const runtime::PlannedSite& place) {
    const auto file = files_.open(place.site->path);
    if (file == nullptr) return fmt::format("\t{}: at 0x{:x} of the file, which cannot be read\n", what, place.offset);
    return fmt::format("\t{}: at 0x{:x} of the file{}: {}\n", what, place.offset, kind_of(place), site_text(place, *file));
  }

 private:
  runtime::ModuleCodes& files_;
};

// All that an entry tells, and the value of a return. One frame, since a script that shows callers probes other returns.
runtime::CaptureNeeds usual_needs(const runtime::Probe& probe) {
  runtime::CaptureNeeds needs;
  const bool is_return = probe.name == "return";
  needs.args = is_return ? 2 : runtime::kToldArguments;
  needs.frames = is_return ? 0 : 1;  // or else at its exits, for ustack(1)
  return needs;
}

using PlacesOf = std::map<const runtime::Probe*, std::vector<runtime::PlannedSite>>;

PlacesOf places_of(const std::vector<runtime::EnabledProbe>& enabled, std::vector<runtime::Refused>& refused,
                   runtime::ModuleCodes& files) {
  PlacesOf places;
  for (const runtime::PlannedSite& place : runtime::plan_sites(enabled, refused, files))
    places[place.enabled->probe].push_back(place);
  return places;
}

bool is_same(const std::vector<runtime::PlannedSite>& a, const std::vector<runtime::PlannedSite>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.offset == y.offset; });
}

// Asks the backends for the clauses that are enabled on these probes; of the others, for any clause.
void preview(runtime::Handle& handle, const std::vector<const runtime::Probe*>& probes) {
  std::vector<runtime::EnabledProbe> all = handle.enabled();
  std::set<const runtime::Probe*> enabled;
  for (const runtime::EnabledProbe& one : all) enabled.insert(one.probe);
  for (const runtime::Probe* probe : probes)
    if (!enabled.contains(probe)) {
      all.push_back({probe, {}});
      all.back().in_dvm = runtime::InDvm::nothing;  // it depends on the clause
    }
  handle.preview(all);
}

// A line for each clause on the probe, or one for all if they are placed alike.
std::string placements_text(const runtime::Handle& handle, const runtime::Probe& probe) {
  std::vector<std::pair<unsigned, std::string>> lines;
  for (const runtime::Placement& one : handle.placements(probe)) lines.emplace_back(one.clause, placement_text(one));
  if (lines.empty()) return fmt::format("\t{}\n", placement_text(handle.placement(probe)));
  const std::string& first = lines.front().second;
  if (std::all_of(lines.begin(), lines.end(), [&](const auto& one) { return one.second == first; }))
    return fmt::format("\t{}\n", first);
  std::string text;
  for (const auto& [clause, line] : lines) text += fmt::format("\tdt_clause_{}: {}\n", clause, line);
  return text;
}

// The backend of each clause on the probes; for a uprobe also its place, the instruction there, and the expected cost of a
// firing.
std::vector<std::string> describe_sites(runtime::Handle& handle, const std::vector<const runtime::Probe*>& probes) {
  std::vector<runtime::EnabledProbe> telling, silent;
  for (const runtime::Probe* probe : probes) {
    telling.push_back({probe, usual_needs(*probe)});
    silent.push_back({probe, {}});
  }
  preview(handle, probes);
  std::vector<runtime::Refused> refused, known;
  runtime::ModuleCodes files;
  PlacesOf usual = places_of(telling, refused, files), counted = places_of(silent, known, files);
  SiteDescriber sites(files);
  std::vector<std::string> texts;
  for (const runtime::Probe* probe : probes) {
    std::string& text = texts.emplace_back(placements_text(handle, *probe));
    // The kind of the instruction matters to uprobes only.
    const std::string by = handle.placement(*probe).by;
    if (by.starts_with("agent") || by == "breakpoint") continue;
    for (const runtime::PlannedSite& place : usual[probe]) text += sites.line("site", place);
    if (!is_same(usual[probe], counted[probe]))
      for (const runtime::PlannedSite& place : counted[probe]) text += sites.line("site if no clause reads arguments", place);
    for (const runtime::Refused& one : refused)
      if (one.probe == probe) text += fmt::format("\tsite: none: {}\n", printable(one.reason));
  }
  return texts;
}

template <class Function>
void for_each_description(const dif::Program& program, Function&& function) {
  for (const dif::EcbDesc& clause : program.clauses)
    for (const dif::ProbeDesc& description : clause.probes) function(description);
}

// Texts of probes, made together, since the programs are compiled anew to describe any probes.
class ProbeTexts {
 public:
  void want(const runtime::Probe& probe) {
    if (places_.try_emplace(&probe, probes_.size()).second) probes_.push_back(&probe);
  }
  void make(const DescribeProbes& describe) {
    if (describe && !probes_.empty()) texts_ = describe(probes_);
    texts_.resize(probes_.size());
  }
  std::string_view of(const runtime::Probe& probe) const {
    const auto place = places_.find(&probe);
    return place == places_.end() ? std::string_view() : texts_[place->second];
  }

 private:
  std::vector<const runtime::Probe*> probes_;
  std::map<const runtime::Probe*, size_t> places_;
  std::vector<std::string> texts_;
};

void print_probe(const runtime::Probe& probe, std::FILE* out) {
  fmt::print(out, "{:>5} {:>10} {:>17} {:>33} {}\n", probe.id, probe.provider, printable(probe.module), printable(probe.function),
             printable(probe.name));
}

void print_probes(const std::vector<const runtime::Probe*>& probes, const ProbeTexts& texts, bool demangles, std::FILE* out) {
  runtime::DemangledProbes names;
  const std::vector<const runtime::Probe*> named = demangles ? names.rename(probes) : probes;
  for (size_t i = 0; i < probes.size(); i++) {
    print_probe(*named[i], out);
    fmt::print(out, "{}", texts.of(*probes[i]));
  }
}

int print_no_match(const dif::ProbeDesc& description, const compiler::ProbeMatches& found, NoMatch no_match, std::FILE* out) {
  std::fflush(out);  // in their order on a terminal
  const bool is_plain = found.tag.empty() || found.tag == "D_PDESC_ZERO";
  tell("failed to match {}: {}", dif::spell(description), is_plain ? "No probe matches description" : found.reason);
  if (is_plain && !found.reason.empty()) fmt::print(stderr, "    hint: {}\n", found.reason);
  for (const std::string& hint : found.hints) fmt::print(stderr, "    hint: {}\n", hint);
  return is_plain ? static_cast<int>(no_match) : 1;
}

}  // namespace

int list_probes(runtime::Handle& handle, const std::vector<const dif::Program*>& programs, const DescribeProbes& describe,
                NoMatch no_match, std::FILE* out) {
  std::vector<std::pair<const dif::ProbeDesc*, compiler::ProbeMatches>> matches;
  ProbeTexts texts;
  for (const dif::Program* program : programs)
    for_each_description(*program, [&](const dif::ProbeDesc& description) {
      matches.emplace_back(&description, match_probes(handle, description, true));
      if (matches.back().second.count == 0) return;
      for (const runtime::Probe* probe : handle.catalog().match(description)) texts.want(*probe);
    });
  texts.make(describe);
  const bool demangles = handle.options()[dif::Option::demangle] > 0;
  int status = 0;
  fmt::print(out, "   ID   PROVIDER            MODULE                          FUNCTION NAME\n");
  for (const auto& [description, found] : matches)
    if (found.count != 0)
      print_probes(handle.catalog().match(*description), texts, demangles, out);
    else
      status = std::max(status, print_no_match(*description, found, no_match, out));
  return status;
}

std::string placement_text(const runtime::Placement& placement) {
  std::string text = !placement.backend.empty()
                         ? fmt::format("backend {} ({}), engine {}", placement.backend, placement.by, placement.engine)
                     : placement.others.empty() ? "no backend: " + placement.reason
                                                : "no backend";
  if (!placement.engine_problem.empty()) text += fmt::format("; not llvm: {}", placement.engine_problem);
  for (const auto& [name, reason] : placement.others) text += fmt::format("; not {}: {}", name, reason);
  return text;
}

void print_clauses(runtime::Handle& handle, const std::vector<ReadyProgram>& programs, const DescribeProbes& describe,
                   std::FILE* out) {
  ProbeTexts texts;
  const auto first = [&](const dif::ProbeDesc& description) {
    const std::vector<const runtime::Probe*> probes = handle.catalog().match(description);
    return probes.empty() ? nullptr : probes.front();
  };
  for (const ReadyProgram& one : programs)
    for_each_description(one.program, [&](const dif::ProbeDesc& description) {
      if (const runtime::Probe* probe = first(description)) texts.want(*probe);
    });
  texts.make(describe);
  for (const ReadyProgram& one : programs) {
    fmt::print(out, "{}", one.report);
    for_each_description(one.program, [&](const dif::ProbeDesc& description) {
      const runtime::Probe* probe = first(description);
      fmt::print(out, "{}\n{}", printable(dif::spell(description)), probe == nullptr ? "" : texts.of(*probe));
    });
  }
}

DescribeProbes describe_as_dtrace(runtime::Handle& handle, const ScriptOptions& given, const std::vector<ReadyProgram>& programs,
                                  pid_t target) {
  std::vector<compiler::Source> sources;
  for (const ReadyProgram& program : programs)
    if (!program.source.text.empty()) sources.push_back(program.source);
  return [&handle, &given, target, sources](const std::vector<const runtime::Probe*>& probes) {
    TargetCatalog types(handle, target, [&handle](int32_t pid) { return handle.symbols().objects(pid); });
    std::vector<std::string> texts;
    for (const auto& known : describe_probes(probes, sources, given, {&handle, &types, target, false}, handle.options()))
      texts.push_back(compiler::probe_report(known));
    return texts;
  };
}

DescribeProbes describe_with_sites(runtime::Handle& handle, const ScriptOptions& given, const std::vector<ReadyProgram>& programs,
                                   pid_t target) {
  return
      [&handle, reports = describe_as_dtrace(handle, given, programs, target)](const std::vector<const runtime::Probe*>& probes) {
        std::vector<std::string> texts = reports(probes);
        texts.resize(probes.size());
        const std::vector<std::string> sites = describe_sites(handle, probes);
        for (size_t i = 0; i < probes.size(); i++) texts[i] += sites[i] + "\n";
        return texts;
      };
}

void print_dif(const dif::Program& program, const dif::Options& options, std::FILE* out) {
  static uint64_t number = 0;
  const auto strsize = static_cast<uint64_t>(options[dif::Option::strsize]);
  const auto print = [&](const dif::Difo& difo) { fmt::print(out, "{}", dif::list_as_dtrace(difo, ++number, strsize)); };
  for (const dif::EcbDesc& clause : program.clauses) {
    if (clause.predicate) print(clause.predicate->difo);
    for (const dif::ActDesc& action : clause.actions)
      for (const dif::RecDesc& arg : action.args)
        if (!dif::is_own_stack(arg)) print(arg.difo);
  }
}

}  // namespace dvm::cmd
