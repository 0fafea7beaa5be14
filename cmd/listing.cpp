// Listings. Covered by tests/runtime/scenarios/test_list.py and test_command.py.

#include "cmd/listing.h"

#include <fmt/core.h>

#include "dvm/dif/text.h"

namespace dvm::cmd {

void print_probe_heading() { fmt::print("   ID   PROVIDER            MODULE                          FUNCTION NAME\n"); }

void print_probe(const runtime::Probe& probe) {
  fmt::print("{:>5} {:>10} {:>17} {:>33} {}\n", probe.id, probe.provider, probe.module, probe.function, probe.name);
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
