// Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/lsp/language.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "cmd/complete.h"
#include "cmd/lsp/known_probes.h"
#include "cmd/profiles.h"
#include "dvm/dif/probe_desc.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/process/process.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd::lsp {
namespace {

constexpr std::string_view kNoMember = "_";

std::string spelled_cost(double ns) { return ns < 1000 ? fmt::format("{:.0f} ns", ns) : fmt::format("{:.1f} us", ns / 1000); }

compiler::Source source_of(const std::string& name, std::string text) { return {name, std::move(text)}; }

// "#!/usr/sbin/dtrace -Cs": a script that is run through the preprocessor.
bool asks_for_preprocessor(std::string_view text) {
  if (!text.starts_with("#!")) return false;
  std::istringstream words(std::string(text.substr(0, text.find('\n'))));
  for (std::string word; words >> word;)
    if (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find('C') != std::string::npos) return true;
  return false;
}

// Errors and warnings of cpp: "<stdin>:3:10: fatal error: x.h: No such file or directory".
std::vector<compiler::Diagnostic> diagnostics_in(const std::string& messages) {
  static const std::regex kMessage("<stdin>:(\\d+):(\\d+): (fatal error|error|warning): (.*)");
  std::vector<compiler::Diagnostic> found;
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, kMessage)) continue;
    compiler::Diagnostic& made = found.emplace_back();
    made.severity = parts[3] == "warning" ? compiler::Severity::warning : compiler::Severity::error;
    made.line = static_cast<unsigned>(std::stoul(parts[1])), made.column = static_cast<unsigned>(std::stoul(parts[2]));
    made.message = parts[4], made.tag = "D_SYNTAX";
  }
  return found;
}

// The script up to the clause of the cursor, and of that the statements before the cursor's, which may declare variables.
std::string selecting(std::string_view text, const Cursor& cursor, bool with_statements) {
  std::string made(text.substr(0, cursor.clause));
  const std::string_view clause = text.substr(cursor.clause);
  made +=
      cursor.body == 0 ? std::string(clause.substr(0, clause.find('/'))) + "{" : clause.substr(0, cursor.body - cursor.clause);
  if (with_statements && cursor.statement > cursor.body) made += text.substr(cursor.body, cursor.statement - cursor.body);
  return fmt::format("{}\ntrace({}{}); }}", made, cursor.owner, kNoMember);
}

// With the process id in place of $target, or without a process 0.
std::string replaced_target(std::string text, const std::vector<pid_t>& pids) {
  constexpr std::string_view kTarget = "$target";
  if (const size_t at = text.find(kTarget); at != std::string::npos)
    text.replace(at, kTarget.size(), std::to_string(pids.empty() ? 0 : pids[0]));
  return text;
}

}  // namespace

Language::Language(const ScriptOptions& given)
    : given_(given), handle_(std::make_unique<runtime::Handle>(runtime::HandleConfig{})) {
  probes_ = std::make_unique<KnownProbes>(*handle_);
  types_.emplace(*handle_, given.pids.empty() ? 0 : given.pids[0], runtime::mapped_objects);
}

Language::~Language() = default;

Result<std::unique_ptr<Language>> Language::open(const ScriptOptions& given) {
  const Result<dif::Options> options = run_time_options(given);
  if (!options) return options.error();
  for (const pid_t pid : given.pids)
    if (kill(pid, 0) != 0 && errno == ESRCH)
      return Error{fmt::format("failed to grab process {}: {}", pid, std::strerror(ESRCH))};
  std::unique_ptr<Language> made(new Language(given));
  const pid_t target = given.pids.empty() ? getpid() : given.pids[0];
  Result<compiler::CompileOptions> how =
      compile_options(given, {nullptr, &*made->types_, target, given.pids.empty(), false, nullptr}, *options);
  if (!how) return how.error();
  how->refuse_unused_arguments = false;
  how->default_arguments = true;  // $1 has no value here
  made->how_ = *std::move(how);
  made->options_ = *options;
  made->how_.catalog = made->probes_.get();
  made->how_.warn_zero_matches = true;
  made->library_names_ = made->ask_libraries({}).names;
  if (Result<vm::Profile> profile = read_profile("")) {
    made->profile_ = *std::move(profile);
  } else {
    made->no_costs_ = profile.error().message;
  }
  return made;
}

compiler::CompileResult Language::ask_libraries(std::vector<dif::ProbeDesc> described) const {
  compiler::CompileOptions how = how_;
  how.allow_empty = how.list_names = true;
  for (compiler::Library& library : how.libraries) library.if_named = false;
  how.described = std::move(described);
  const compiler::Source nothing = source_of("", "");
  return compiler::compile({&nothing, 1}, how);
}

Result<compiler::Source> Language::read(const std::string& name, const std::string& text,
                                        std::vector<compiler::Diagnostic>& problems) const {
  compiler::Source source = source_of(name, text);
  ScriptOptions given = given_;
  given.preprocess |= asks_for_preprocessor(text);
  const std::optional<Preprocessor> cpp = preprocessor(given, options_);
  if (!cpp) return source;
  std::string messages;
  const Status done = preprocess(source, *cpp, &messages);
  problems = diagnostics_in(messages);
  if (done) return source;
  if (problems.empty()) problems.emplace_back().message = done.error().message;
  return done.error();
}

Checked Language::check(const std::string& name, const std::string& text) const {
  std::vector<compiler::Diagnostic> problems;
  const Result<compiler::Source> read_source = read(name, text, problems);
  if (!read_source) return {std::move(problems), library_names_, {}};
  const compiler::Source& source = *read_source;
  compiler::CompileOptions how = how_;
  how.list_names = true;
  compiler::CompileResult compiled = compiler::compile({&source, 1}, how);
  Checked checked;
  checked.diagnostics = std::move(problems);
  checked.names = std::move(compiled.names);
  std::set<std::string, std::less<>> own;
  for (const compiler::NameDesc& one : checked.names) own.insert(one.name);
  for (const compiler::NameDesc& one : library_names_)
    if (!own.contains(one.name)) checked.names.push_back(one);
  for (compiler::Diagnostic& one : compiled.diagnostics) {
    if (!one.origin.empty() || one.file != name) continue;
    const Columns at = columns(one);
    one.column = static_cast<unsigned>(at.begin), one.length = static_cast<unsigned>(at.end - at.begin);
    checked.diagnostics.push_back(std::move(one));
  }
  checked.costs = costs(name, compiled.programs);
  return checked;
}

std::vector<compiler::MemberOfType> Language::members(const std::string& name, std::string_view text,
                                                      const Cursor& cursor) const {
  for (const bool with_statements : {true, false}) {
    std::vector<compiler::Diagnostic> problems;
    const Result<compiler::Source> source = read(name, selecting(text, cursor, with_statements), problems);
    if (!source) continue;
    auto found = compiler::members_of_last(*source, how_);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<std::string> Language::descriptions(const std::string& typed) const {
  constexpr size_t kName = 3;
  return complete_description(given_, typed, kName);
}

std::string Language::about_probes(const std::string& description) const {
  const auto desc = dif::parse_probe_desc(replaced_target(description, given_.pids));
  if (!desc) return "";
  (void)probes_->match(*desc);
  const auto probes = handle_->catalog().match(*desc);
  std::string text(runtime::provider_text(probes.empty() ? desc->provider : probes.front()->provider));
  if (!probes.empty()) text += fmt::format("\n\n{} {}", probes.size(), probes.size() == 1 ? "probe" : "probes");
  const compiler::CompileResult compiled = ask_libraries({*desc});
  if (compiled.descriptions.empty()) return text;
  for (size_t i = 0; i < compiled.descriptions[0].argument_types.size(); i++)
    text += fmt::format("\n\n`args[{}]`: `{}`", i, compiled.descriptions[0].argument_types[i]);
  return text;
}

// A clause on several descriptions has the cost that it has on the first.
std::vector<ClauseCost> Language::costs(const std::string& name, const std::vector<compiler::CompiledSource>& programs) const {
  if (!profile_) return {};
  std::vector<const dif::Program*> compiled;
  for (const compiler::CompiledSource& one : programs) compiled.push_back(&one.program);
  runtime::PredictOptions how;
  runtime::add_timer_rates(compiled, std::max(1u, std::thread::hardware_concurrency()), how);
  if (const Result<bool> by_agent = predicts_agent(options_, *profile_); by_agent && *by_agent)
    if (auto ways = runtime::find_agent_ways(compiled, options_, {}, how)) how.agent = *std::move(ways);
  const double ns = 1e9 / profile_->clock_hz;
  std::vector<ClauseCost> costs;
  for (const runtime::ProbePrediction& probe : runtime::predict(compiled, *profile_, how).probes)
    for (const runtime::ClausePrediction& clause : probe.clauses) {
      if (clause.position.file != name || (!costs.empty() && costs.back().line == clause.position.line)) continue;
      const double own = clause.cost.predicate.expected.clocks + clause.cost.probability * clause.cost.actions.expected.clocks;
      costs.push_back({clause.position.line, fmt::format("{} of {} a firing", spelled_cost(own * ns),
                                                         spelled_cost(probe.firing.expected.clocks * ns))});
    }
  return costs;
}

}  // namespace dvm::cmd::lsp
