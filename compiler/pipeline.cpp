// The passes in order: read this first. Tests: tests/unit/compiler/compile_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "common/large_stack.h"
#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "compiler/portable_declaration.h"
#include "compiler/sema/check_clause.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/describe_probe.h"
#include "compiler/sema/list_names.h"
#include "compiler/sema/pragma.h"
#include "compiler/source/library.h"

namespace dvm::compiler {

namespace {

// One source on its way. The AST lives as long as all sources are compiled: inlines refer to it.
struct CompileJob {
  explicit CompileJob(const Source& source) : file(source) {}

  SourceFile file;
  TranslationUnit unit;
  std::set<size_t> used_arguments;  // as names of types
  std::vector<CheckedClause> clauses;
  CompiledSource result;
};

struct CheckItem {
  Session& session;
  CompileJob& job;

  void operator()(Pragma& p) const { apply(p, session, job.result.options); }
  void operator()(Declaration& d) const { declare(d, session); }
  void operator()(InlineDecl& d) const { declare(d, session); }
  void operator()(TranslatorDecl& d) const { declare(d, session); }
  void operator()(ProviderDecl& d) const { declare(d, session); }
  void operator()(Clause& c) const { check_clause(c, session, job.clauses); }
};

void parse_program(CompileJob& job, TypeNames& type_names, bool may_be_empty, Diagnostics& diagnostics) {
  diagnostics.set_source(&job.file);
  const unsigned errors = diagnostics.errors();
  (void)type_names.take_used_arguments();  // of another source
  job.unit = parse(job.file, type_names, diagnostics);
  job.used_arguments = type_names.take_used_arguments();
  const auto is_pragma = [](const Item& item) { return std::holds_alternative<Pragma>(item); };
  const bool is_empty = std::all_of(job.unit.items.begin(), job.unit.items.end(), is_pragma);
  if (errors == diagnostics.errors() && is_empty && !may_be_empty)
    diagnostics.error(Tag::D_EMPTY, {}, "empty D program translation unit");
}

// As in DTrace, declarations also hold for the clauses before them.
void check_items(CompileJob& job, bool clauses, Session& session) {
  for (Item& item : job.unit.items) {
    if (std::holds_alternative<Clause>(item) != clauses) continue;
    session.begin_item();
    std::visit(CheckItem{session, job}, item);
    apply_pending(session);
  }
}

// As in DTrace, pragmas set the compiler's flags for their own program, and other options for those behind it too.
void begin_program(const CompileOptions& given, CompileOptions& now) {
  now.default_arguments = given.default_arguments;
  now.refuse_unused_arguments = given.refuse_unused_arguments;
  now.allow_zero_matches = given.allow_zero_matches;
  now.minimum = given.minimum;
}

void check_source(CompileJob& job, Session& session) {
  session.diagnostics.set_source(&job.file);
  session.symbols.set_file(&job.file);
  session.descriptions = session.statements = {};
  session.used_arguments.clear();
  for (const auto& [scope, name] : job.unit.doubtful) (void)session.is_new_unknown(scope, name);
  check_items(job, false, session);
  check_items(job, true, session);
  finish_pragmas(session);
  job.result.descriptions = session.descriptions, job.result.statements = session.statements;
}

bool has_dependency(std::string_view kind, std::string_view name, const CompileOptions& options) {
  return kind == "provider" && (options.catalog == nullptr || options.catalog->has_provider(name));
}

void report_cycle(const std::vector<const Source*>& cycle, Diagnostics& diagnostics) {
  const SourceFile file(*cycle[0]);
  std::string path;
  for (const Source* library : cycle) path += fmt::format("{}{}", path.empty() ? "" : " -> ", library->name);
  diagnostics.set_source(&file);
  const size_t at = std::max<size_t>(std::min(file.text().find("depends_on library"), file.text().size()), 0);
  diagnostics.error(Tag::D_PRAGMA_DEPEND, {static_cast<uint32_t>(at), static_cast<uint32_t>(at + 18)},
                    fmt::format("libraries depend on each other: {}", path));
}

// An error of the program that needs it, if there is one.
void report_missing(const std::string& missing, const Source& source, Diagnostics& diagnostics) {
  const SourceFile file(source);
  diagnostics.set_source(&file);
  diagnostics.error(Tag::D_PRAGMA_DEPEND, {}, missing);
}

// Declares what the libraries have. False: something is wrong with one of them.
bool compile_libraries(std::deque<CompileJob>& jobs, std::span<const Source> programs, TypeNames& type_names, Session& session) {
  const CompileOptions& options = session.options;
  const LibraryOrder order =
      order_libraries(options.libraries, programs, options.arguments,
                      [&](std::string_view kind, std::string_view name) { return has_dependency(kind, name, options); });
  if (!order.missing.empty())
    return report_missing(order.missing, programs.empty() ? options.libraries[0].source : programs[0], session.diagnostics),
           false;
  if (!order.cycle.empty()) return report_cycle(order.cycle, session.diagnostics), false;
  session.in_library = true;
  for (const Source* library : order.libraries) {
    CompileJob& job = jobs.emplace_back(*library);
    session.diagnostics.set_source(&job.file);
    job.unit = parse(job.file, type_names, session.diagnostics);
    check_source(job, session);
  }
  session.in_library = false;
  return !session.diagnostics.failed();
}

void lower_source(CompileJob& job, Session& session) {
  session.diagnostics.set_source(&job.file);
  for (const CheckedClause& clause : job.clauses) {
    job.result.matched += clause.matched;
    if (session.options.print_tree) job.result.tree += print_checked(clause);
    if (session.options.inspect) session.options.inspect(clause);
    job.result.program.clauses.push_back(lower_clause(clause, session));
  }
}

// As in DTrace, each program must use the last argument, but no other. It tells first of macros that are not defined.
void check_arguments(const CompileJob& job, Session& session) {
  const std::vector<std::string>& arguments = session.options.arguments;
  if (!session.options.refuse_unused_arguments || arguments.size() < 2) return;
  const size_t last = arguments.size() - 1;
  const std::vector<bool>& used = session.used_arguments;
  const bool is_undefined = used.size() > arguments.size() && !session.options.default_arguments;
  if (is_undefined || job.used_arguments.contains(last) || (last < used.size() && used[last])) return;
  session.error(Tag::D_MACRO_UNUSED, {}, fmt::format("extraneous argument '{}' (${} is not referenced)", arguments[last], last),
                {"-x argref allows arguments that a program does not name"});
}

void sort_by_place(std::vector<Diagnostic>& diagnostics, std::span<const Source> sources) {
  const auto rank = [&](const Diagnostic& d) {
    const auto it = std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.name == d.file; });
    return std::tuple(it - sources.begin(), d.order, d.column);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return rank(a) < rank(b); });
}

// Arguments that name a type of several words, or of the traced program: the others the lexer knows.
void add_argument_types(Session& session, TypeNames& type_names) {
  const std::vector<std::string>& arguments = session.options.arguments;
  for (size_t i = 1; i < arguments.size(); i++)
    if (session.types.find(arguments[i])) type_names.add(fmt::format("${}", i));
}

std::vector<ProbeArgumentDesc> describe(const std::vector<ProbeArgument>& arguments) {
  std::vector<ProbeArgumentDesc> list;
  for (const ProbeArgument& a : arguments) list.push_back({a.name, a.type->name});
  return list;
}

std::vector<ProviderDesc> describe_providers(const Providers& providers, const TypeNames& standard) {
  std::vector<ProviderDesc> list;
  for (const auto& [name, provider] : providers.all()) {
    if (provider.is_of_library || provider.probes.empty()) continue;
    ProviderDesc& desc = list.emplace_back(ProviderDesc{name, provider.attributes, {}, {}});
    for (const DeclaredProbe& probe : provider.probes)
      desc.probes.push_back({probe.name, describe(probe.native), describe(probe.translated)});
    desc.declaration = portable_declaration(provider, standard);
  }
  return list;
}

CompileResult compile_here(std::span<const Source> sources, const CompileOptions& options) {
  CompileResult result;
  Diagnostics diagnostics(result.diagnostics);
  Session session(options, diagnostics);
  std::deque<CompileJob> libraries, jobs;
  for (const Source& source : sources) jobs.emplace_back(source);

  TypeNames type_names(options.arguments);
  session.program_providers.parse = [](const SourceFile& file, Diagnostics& into) {
    TypeNames standard;
    return parse(file, standard, into);
  };
  declare_built_ins(session);
  if (!compile_libraries(libraries, sources, type_names, session)) return result;
  session.symbols.set_version(session.options.version);
  add_argument_types(session, type_names);
  type_names.prefer_probes = options.prefers_probes;  // libraries are not read so
  for (CompileJob& job : jobs) parse_program(job, type_names, options.allow_empty, diagnostics);
  const bool is_parsed = !diagnostics.failed();
  for (CompileJob& job : jobs) {
    begin_program(options, session.options);
    check_source(job, session);
    if (is_parsed) check_arguments(job, session);
  }
  if (!diagnostics.failed())
    for (CompileJob& job : jobs) lower_source(job, session);

  if (options.list_names) result.names = list_names(session);
  sort_by_place(result.diagnostics, sources);
  if (diagnostics.failed()) return result;
  result.providers = describe_providers(session.providers, TypeNames());
  for (const dif::ProbeDesc& probe : options.described) result.descriptions.push_back(describe_probe(probe, session));
  for (CompileJob& library : libraries)  // what they set comes before what the first program sets
    if (!jobs.empty())
      jobs[0].result.options.insert(jobs[0].result.options.begin(), library.result.options.begin(), library.result.options.end());
  for (CompileJob& job : jobs) {
    job.result.program.variables = session.symbols.variables();
    job.result.program.aggregations = session.symbols.aggregations();
    result.programs.push_back(std::move(job.result));
  }
  return result;
}

}  // namespace

// Passes recurse as deep as expressions nest, which the parser limits; not every caller has the stack for that.
CompileResult compile(std::span<const Source> sources, const CompileOptions& options) {
  CompileResult result;
  run_on_large_stack([&] { result = compile_here(sources, options); });
  return result;
}

}  // namespace dvm::compiler
