// Indices into the integer and string tables. Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include "vm/verify/report.h"

namespace dvm::vm {

void check_tables(const dif::Difo& difo, Report& report) {
  if (!difo.strings.empty() && difo.strings.back() != '\0') report.add(0, "the string table does not end with a NUL");
  for (unsigned pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    if (has_format(in, dif::Format::setx) && in.index() >= difo.integers.size())
      report.add(pc, fmt::format("no integer {} in a table of {}", in.index(), difo.integers.size()));
    if (has_format(in, dif::Format::sets) && in.index() >= difo.strings.size())
      report.add(pc, fmt::format("no string at {} in a table of {} bytes", in.index(), difo.strings.size()));
  }
}

}  // namespace dvm::vm
