// The passes in order: read this first. Tests: tests/unit/compiler/compile_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "compiler/sema/check_clause.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/pragma.h"

namespace dvm::compiler {

namespace {

// One source on its way. The AST lives as long as all sources are compiled: inlines refer to it.
struct Job {
  explicit Job(const Source& source) : file(source) {}

  SourceFile file;
  Unit unit;
  std::vector<CheckedClause> clauses;
  CompiledSource result;
};

struct CheckItem {
  Session& session;
  Job& job;

  void operator()(Pragma& p) const { apply(p, session, job.result.options); }
  void operator()(Declaration& d) const { declare(d, session); }
  void operator()(InlineDecl& d) const { declare(d, session); }
  void operator()(TranslatorDecl& d) const { declare(d, session); }
  void operator()(ProviderDecl& d) const { declare(d, session); }
  void operator()(Clause& c) const { check_clause(c, session, job.clauses); }
};

void parse_source(Job& job, Diagnostics& diagnostics) {
  diagnostics.set_source(&job.file);
  const unsigned errors = diagnostics.errors();
  job.unit = parse(job.file, diagnostics);
  const bool has_clause =
      std::any_of(job.unit.items.begin(), job.unit.items.end(), [](const Item& i) { return std::holds_alternative<Clause>(i); });
  if (!has_clause && errors == diagnostics.errors() && job.unit.items.empty())
    diagnostics.error(Tag::D_EMPTY, {}, "empty D program translation unit");
}

void check_source(Job& job, Session& session) {
  session.diagnostics.set_source(&job.file);
  for (Item& item : job.unit.items) {
    session.expansion = {};
    std::visit(CheckItem{session, job}, item);
  }
}

void lower_source(Job& job, Session& session) {
  session.diagnostics.set_source(&job.file);
  for (const CheckedClause& clause : job.clauses) {
    job.result.matched += clause.matched;
    if (session.options.print_tree) job.result.tree += print_checked(clause);
    job.result.program.clauses.push_back(lower_clause(clause, session));
  }
}

void check_arguments(Session& session) {
  if (!session.options.refuse_unused_arguments) return;
  for (size_t i = 1; i < session.options.arguments.size(); i++)
    if (i >= session.used_arguments.size() || !session.used_arguments[i])
      session.error(Tag::D_MACRO_UNUSED, {},
                    fmt::format("extraneous argument '{}' (${} is not defined in program)", session.options.arguments[i], i),
                    {"-x argref allows arguments that no program names"});
}

void sort_by_place(std::vector<Diagnostic>& diagnostics, std::span<const Source> sources) {
  const auto rank = [&](const Diagnostic& d) {
    const auto it = std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.name == d.file; });
    return std::tuple(it - sources.begin(), d.line, d.column);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return rank(a) < rank(b); });
}

}  // namespace

CompileResult compile(std::span<const Source> sources, const CompileOptions& options) {
  CompileResult result;
  Diagnostics diagnostics(result.diagnostics);
  Session session(options, diagnostics);
  std::deque<Job> jobs;
  for (const Source& source : sources) jobs.emplace_back(source);

  declare_built_ins(session);
  for (Job& job : jobs) parse_source(job, diagnostics);
  for (Job& job : jobs) check_source(job, session);
  if (!jobs.empty()) check_arguments(session);
  if (!diagnostics.failed())
    for (Job& job : jobs) lower_source(job, session);

  sort_by_place(result.diagnostics, sources);
  if (diagnostics.failed()) return result;
  for (Job& job : jobs) {
    job.result.program.variables = session.symbols.variables();
    job.result.program.aggregations = session.symbols.aggregations();
    result.programs.push_back(std::move(job.result));
  }
  return result;
}

}  // namespace dvm::compiler
