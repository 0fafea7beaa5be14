// The golden form of a Program, and that of the AST. Tests: tests/golden/{parse,lower}.
#include <fmt/format.h>

#include "common/large_stack.h"
#include "compiler/ast/print.h"
#include "compiler/parse/parse.h"
#include "dvm/compiler/compile.h"
#include "dvm/dif/probe_desc.h"
#include "dvm/dif/text.h"

namespace dvm::compiler {

namespace {

std::string_view action_name(dif::Action kind) {
  if (const dif::ActionInfo* row = dif::find_action(kind)) return row->name;
  if (const dif::AggregationInfo* row = dif::find_aggregation(kind)) return row->name;
  return "?";
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (c == '"' || c == '\\')
      quoted += '\\', quoted += c;
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string head(const dif::ActDesc& a, const dif::Program& program) {
  std::string text = fmt::format("action {}", action_name(a.kind));
  if (a.has_format) text += " " + quote(a.format);
  for (const uint32_t id : a.aggregations)
    text += fmt::format(" @{}", id - 1 < program.aggregations.size() ? program.aggregations[id - 1].name : "?");
  if (a.key_count) text += fmt::format(" keys {}", a.key_count);
  for (const int64_t p : a.parameters) text += fmt::format(" {}", p);
  return text + "\n";
}

}  // namespace

std::string print_dif(const dif::Program& program) {
  std::string text;
  for (const dif::EcbDesc& clause : program.clauses) {
    text += "clause";
    for (const dif::ProbeDesc& p : clause.probes) text += " " + dif::spell(p);
    text += "\n";
    if (clause.predicate) text += "predicate\n" + dif::disassemble(clause.predicate->difo);
    for (const dif::ActDesc& action : clause.actions) {
      text += head(action, program);
      for (const dif::RecDesc& arg : action.args)
        if (!dif::is_own_stack(arg)) text += dif::disassemble(arg.difo);
    }
    text += "\n";
  }
  return text;
}

std::string print_ast(const Source& source, std::vector<Diagnostic>& diagnostics) {
  const SourceFile file(source);
  Diagnostics collector(diagnostics);
  collector.set_source(&file);
  TypeNames type_names;
  std::string text;
  run_on_large_stack([&] { text = print(parse(file, type_names, collector)); });
  return text;
}

}  // namespace dvm::compiler
