// Listings. Covered by tests/runtime/scenarios/test_list.py and test_command.py.

#include "cmd/listing.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <string>

#include "dvm/dif/text.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::cmd {

void print_probe_heading() { fmt::print("   ID   PROVIDER            MODULE                          FUNCTION NAME\n"); }

void print_probe(const runtime::Probe& probe) {
  fmt::print("{:>5} {:>10} {:>17} {:>33} {}\n", probe.id, probe.provider, probe.module, probe.function, probe.name);
}

namespace {

std::string site_text(const runtime::Place& place, const runtime::ModuleCode& file) {
  const runtime::CodeBytes code = file.bytes(place.offset, 16);
  const auto instruction = runtime::decode_instruction(code, 0);
  if (!instruction) return "no instruction";
  return fmt::format("{} ({}, about {} ns a firing)", runtime::instruction_text(code, place.offset), name_of(instruction->cost),
                     expected_ns(instruction->cost));
}

void print_site(const runtime::Place& place, std::map<std::string, std::unique_ptr<runtime::ModuleCode>>& files) {
  const std::string& path = place.site->path;
  auto [file, is_new] = files.try_emplace(path);
  if (is_new)
    if (auto opened = runtime::ModuleCode::open(path)) file->second = std::move(*opened);
  if (!file->second) return fmt::print("\tsite: at 0x{:x} of the file, which cannot be read\n", place.offset);
  const std::string moved = place.fired_at.moved == 0 ? "" : fmt::format(", 0x{:x} after the entry", place.fired_at.moved);
  fmt::print("\tsite: at 0x{:x} of the file{}: {}\n", place.offset, moved, site_text(place, *file->second));
}

}  // namespace

void print_probes_with_sites(const std::vector<const runtime::Probe*>& probes) {
  std::vector<runtime::EnabledProbe> enabled;
  for (const runtime::Probe* probe : probes) enabled.push_back({probe, {}});
  std::map<const runtime::Probe*, std::vector<runtime::Place>> places;
  std::vector<runtime::Refused> refused;
  for (const runtime::Place& place : runtime::plan_places(enabled, refused)) places[place.enabled->probe].push_back(place);
  std::map<std::string, std::unique_ptr<runtime::ModuleCode>> files;
  for (const runtime::Probe* probe : probes) {
    print_probe(*probe);
    for (const runtime::Place& place : places[probe]) print_site(place, files);
    for (const runtime::Refused& one : refused)
      if (one.probe == probe) fmt::print("\tsite: none, for {}\n", one.reason);
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
