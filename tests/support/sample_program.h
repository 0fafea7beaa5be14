#pragma once
// A program file with something of everything: clauses, a predicate, a format, an aggregation, variables, tables.

#include <stdexcept>

#include "dvm/dif/program_file.h"
#include "dvm/dif/text.h"

namespace dvm::dif {

inline Difo sample_difo(std::string_view text) {
  Result<Difo> difo = assemble(text);
  if (!difo) throw std::logic_error(difo.error().message);
  return *difo;
}

inline ProgramFile sample_program() {
  const Difo number = sample_difo("returns int32\nx 500 scl glb r int32\nldgs x, %r1\nsetx 7, %r2\nadd %r1, %r2, %r1\nret %r1\n");
  const Difo text = sample_difo("returns string\nsets \"some text\", %r1\nret %r1\n");
  NamedProgram named{"sample.d", false, {}};
  EcbDesc clause;
  clause.probes = {{"pid$target", "a.out", "main", "entry"}, {"", "", "", "BEGIN"}};
  clause.predicate = PredDesc{number};
  clause.position = {"sample.d", 1, 1};
  ActDesc trace, print, count;
  trace.kind = Action::trace, trace.args = {{number}};
  print.kind = Action::printf, print.args = {{text}, {number}}, print.format = "%s %d\n", print.has_format = true;
  count.kind = Action::agg_count, count.aggregations = {1}, count.key_count = 1, count.args = {{text}};
  clause.actions = {trace, print, count};
  named.program.clauses = {clause};
  named.program.variables = {number.variables[0]};
  named.program.aggregations = {{1, "n", Action::agg_count, {text.result}, {}, {}, {}}};
  return {{named}, {"quiet", "strsize=16"}};
}

}  // namespace dvm::dif
