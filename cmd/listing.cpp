// Listings. Covered by tests/runtime/scenarios/test_list.py and test_command.py.

#include "cmd/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "common/printable.h"
#include "dvm/dif/text.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::cmd {

void print_probe_heading() { fmt::print("   ID   PROVIDER            MODULE                          FUNCTION NAME\n"); }

void print_probe(const runtime::Probe& probe) {
  fmt::print("{:>5} {:>10} {:>17} {:>33} {}\n", probe.id, probe.provider, printable(probe.module), printable(probe.function),
             printable(probe.name));
}

namespace {

constexpr unsigned kUretprobe = 400;  // ns that the kernel's trap at the return adds

// The role of the place in its function.
std::string kind_of(const runtime::Place& place) {
  if (place.is_return) return ", a uretprobe";
  if (place.fired_at.exit) return ", where the function returns";
  return place.fired_at.moved == 0 ? "" : fmt::format(", 0x{:x} after the entry", place.fired_at.moved);
}

std::string site_text(const runtime::Place& place, const runtime::ModuleCode& file) {
  const runtime::CodeBytes code = file.bytes(place.offset, 16);
  const auto instruction = runtime::decode_instruction(code, 0);
  if (!instruction) return "no instruction";
  const unsigned cost = expected_ns(instruction->cost) + (place.is_return ? kUretprobe : 0);
  return fmt::format("{} ({}, about {} ns per firing{})", runtime::instruction_text(code, place.offset),
                     name_of(instruction->cost), cost, runtime::is_doubtful(code) ? "; the kernel may refuse it" : "");
}

class SitePrinter {
 public:
  void print(std::string_view what, const runtime::Place& place) {
    const runtime::ModuleCode* file = files_.open(place.site->path);
    if (file == nullptr) return fmt::print("\t{}: at 0x{:x} of the file, which cannot be read\n", what, place.offset);
    fmt::print("\t{}: at 0x{:x} of the file{}: {}\n", what, place.offset, kind_of(place), site_text(place, *file));
  }

 private:
  runtime::ModuleCodes files_;
};

// All that an entry tells, and the value of a return. One frame, since a script that shows callers probes other returns.
runtime::CaptureNeeds usual_needs(const runtime::Probe& probe) {
  runtime::CaptureNeeds needs;
  needs.args = probe.name == "return" ? 2 : runtime::kToldArguments;
  needs.frames = 1;
  return needs;
}

using PlacesOf = std::map<const runtime::Probe*, std::vector<runtime::Place>>;

PlacesOf places_of(const std::vector<runtime::EnabledProbe>& enabled, std::vector<runtime::Refused>& refused) {
  PlacesOf places;
  for (const runtime::Place& place : runtime::plan_places(enabled, refused)) places[place.enabled->probe].push_back(place);
  return places;
}

bool is_same(const std::vector<runtime::Place>& a, const std::vector<runtime::Place>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.offset == y.offset; });
}

}  // namespace

std::string placement_text(const runtime::Placement& placement) {
  std::string text = placement.backend.empty()
                         ? "no backend: " + placement.reason
                         : fmt::format("backend {} ({}), engine {}", placement.backend, placement.by, placement.engine);
  for (const auto& [name, reason] : placement.others) text += fmt::format("; not {}: {}", name, reason);
  return text;
}

void print_probes_with_sites(const runtime::Handle& handle, const std::vector<const runtime::Probe*>& probes) {
  std::vector<runtime::EnabledProbe> telling, silent;
  for (const runtime::Probe* probe : probes) {
    telling.push_back({probe, usual_needs(*probe)});
    silent.push_back({probe, {}});
  }
  std::vector<runtime::Refused> refused, known;
  PlacesOf usual = places_of(telling, refused), counted = places_of(silent, known);
  SitePrinter printer;
  for (const runtime::Probe* probe : probes) {
    print_probe(*probe);
    fmt::print("\t{}\n", placement_text(handle.placement(*probe)));
    for (const runtime::Place& place : usual[probe]) printer.print("site", place);
    if (!is_same(usual[probe], counted[probe]))
      for (const runtime::Place& place : counted[probe]) printer.print("site if no clause reads arguments", place);
    for (const runtime::Refused& one : refused)
      if (one.probe == probe) fmt::print("\tsite: none: {}\n", printable(one.reason));
  }
}

void print_dif(const dif::Program& program, const dif::Options& options) {
  static uint64_t number = 0;
  const auto strsize = static_cast<uint64_t>(options[dif::Option::strsize]);
  const auto print = [&](const dif::Difo& difo) { fmt::print("{}", dif::list_as_dtrace(difo, ++number, strsize)); };
  for (const dif::EcbDesc& clause : program.clauses) {
    if (clause.predicate) print(clause.predicate->difo);
    for (const dif::ActDesc& action : clause.actions)
      for (const dif::RecDesc& arg : action.args)
        if (!dif::is_stack(arg.made_by)) print(arg.difo);
  }
}

}  // namespace dvm::cmd
