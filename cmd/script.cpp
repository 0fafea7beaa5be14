// Sources, options and diagnostics for every subcommand. Covered by tests/runtime/cmd.

#include "cmd/script.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "cmd/command.h"
#include "cmd/libraries.h"
#include "cmd/parse_pid.h"
#include "cmd/preprocess.h"
#include "cmd/read_file.h"
#include "cmd/specifier.h"
#include "cmd/usage.h"
#include "common/printable.h"
#include "dvm/dif/probe_desc.h"
#include "runtime/catalog/catalog.h"

namespace dvm::cmd {

Columns columns(const compiler::Diagnostic& d) {
  if (d.written.empty()) return {d.column, d.column + d.length};
  const std::string marked = d.source_line.substr(std::min<size_t>(d.column - 1, d.source_line.size()), d.length);
  const size_t at = marked.empty() ? std::string::npos : d.written.find(marked);
  if (at != std::string::npos && d.written.find(marked, at + 1) == std::string::npos) return {at + 1, at + 1 + marked.size()};
  const size_t first = d.written.find_first_not_of(" \t");
  return {first == std::string::npos ? 1 : first + 1, d.written.size() + 1};
}

std::optional<Preprocessor> preprocessor(const ScriptOptions& given, const dif::Options& options) {
  if (!given.preprocess && options[dif::Option::cpp] <= 0) return {};
  Preprocessor cpp;
  cpp.version = static_cast<uint32_t>(options[dif::Option::version]);
  if (const auto& paths = options.texts(dif::Option::cpppath); !paths.empty()) cpp.program = paths.back();
  cpp.arguments = given.preprocessor;
  for (const auto& [flag, option] :
       {std::pair{"-D", dif::Option::define}, {"-U", dif::Option::undef}, {"-I", dif::Option::incdir}})
    for (const std::string& text : options.texts(option)) cpp.arguments.push_back(flag + text);
  constexpr int64_t kStrict = 2;  // among the words of option stdc
  if (options[dif::Option::stdc] == kStrict) cpp.arguments.emplace_back("-traditional-cpp");
  for (const std::string& text : options.texts(dif::Option::cppargs)) {
    std::istringstream words(text);
    cpp.arguments.insert(cpp.arguments.end(), std::istream_iterator<std::string>(words), {});
  }
  if (given.show_headers || options[dif::Option::cpphdrs] > 0) cpp.arguments.emplace_back("-H");
  return cpp;
}

namespace {

// Adapts the handle's catalog to what the compiler asks.
class HandleCatalog final : public compiler::ProbeCatalog {
 public:
  explicit HandleCatalog(runtime::Handle& handle) : handle_(handle) {}

  bool has_provider(std::string_view name) override { return handle_.has_provider(name); }

  compiler::ProbeMatches match(const dif::ProbeDesc& description) override {
    return match_probes(handle_, description, handle_.options()[dif::Option::zdefs] == 0);
  }

  std::optional<dif::ProbeDesc> find(uint64_t id) override { return find_probe(handle_, id); }

 private:
  runtime::Handle& handle_;
};

const compiler::Source& source_of(const compiler::Diagnostic& diagnostic, const std::vector<compiler::Source>& sources) {
  for (const compiler::Source& source : sources)
    if (source.name == diagnostic.file) return source;
  return sources.front();
}

void print_json(const std::vector<compiler::Diagnostic>& diagnostics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const compiler::Diagnostic& d : diagnostics)
    list.push_back({{"file", d.origin.empty() ? d.file : d.origin},
                    {"line", d.line},
                    {"column", columns(d).begin},
                    {"end_column", columns(d).end},
                    {"severity", d.severity == compiler::Severity::warning ? "warning" : "error"},
                    {"tag", d.tag},
                    {"message", d.message},
                    {"hints", d.hints},
                    {"included_from", d.included_from}});
  const nlohmann::ordered_json root = {{"diagnostics", list}};
  fmt::print("{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

// For people, or as data for editors.
void show(const std::vector<compiler::Diagnostic>& diagnostics, const std::vector<compiler::Source>& sources,
          const ScriptOptions& given, bool with_tags) {
  if (given.json) return print_json(diagnostics);
  for (const compiler::Diagnostic& diagnostic : diagnostics)
    fmt::print(stderr, "{}", printable(compiler::render(diagnostic, source_of(diagnostic, sources), with_tags), kLayout));
}

Status preprocess_all(std::vector<compiler::Source>& sources, const ScriptOptions& given, const dif::Options& options) {
  const std::optional<Preprocessor> cpp = preprocessor(given, options);
  if (!cpp) return {};
  for (compiler::Source& source : sources) {
    const Status done = preprocess(source, *cpp);
    if (done) continue;
    compiler::Diagnostic d;
    d.file = source.name, d.tag = "D_SYNTAX", d.message = done.error().message;
    if (given.json) print_json({d});
    return done;
  }
  return {};
}

void add_program(CLI::App& command, ScriptOptions& options, GivenProgram::Form form, const char* flag, const char* type,
                 const char* help) {
  command
      .add_option_function<std::string>(
          flag,
          [&options, form](const std::string& value) {
            options.programs.push_back({form, value});
          },
          help)
      ->type_name(type)
      ->trigger_on_parse()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Result<compiler::Source> read_program(const GivenProgram& given) {
  using Form = GivenProgram::Form;
  if (given.form == Form::file) return read_file(given.text);
  if (given.form == Form::name) return compiler::Source{given.text, given.text, true};
  Result<std::string> text = complete_descriptions(given.text, static_cast<size_t>(given.form));
  if (!text) return text.error();
  return compiler::Source{given.text, std::move(*text), true};  // messages quote it as it was given
}

}  // namespace

void add_preprocessor_options(CLI::App& command, ScriptOptions& options) {
  const HelpGroup group(command, "Preprocessor");
  command.add_flag("-C", options.preprocess, "Run the C preprocessor (cpp) on the scripts first");
  command.add_flag("-H", options.show_headers, "With -C: print the names of included files on standard error");
  for (const auto& [name, type, text] : {std::array{"-D", "NAME[=VALUE]", "With -C: define a macro"},
                                         {"-U", "NAME", "With -C: undefine a macro"},
                                         {"-I", "FOLDER", "With -C: search this folder for included files"}})
    command
        .add_option_function<std::string>(
            name,
            [&options, flag = std::string(name)](const std::string& value) { options.preprocessor.push_back(flag + value); },
            text)
        ->type_name(type)
        ->trigger_on_parse()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

compiler::ProbeMatches match_probes(runtime::Handle& handle, const dif::ProbeDesc& description, bool advises) {
  runtime::Discovery found = handle.discover(description);
  const size_t count = handle.catalog().match(description).size();
  std::vector<std::string> hints;
  if (count == 0 && found.advise && advises) hints = found.advise();
  for (const std::string& name : found.similar) hints.push_back(fmt::format("did you mean '{}'?", name));
  return {count, std::move(found.reason), std::move(found.tag), std::move(hints)};
}

Status set_option(dif::Options& options, const std::string& setting, const std::string& flag) {
  size_t equals = setting.find('=');
  std::string name = setting.substr(0, equals);
  Status set = options.set(name, equals == std::string::npos ? "" : setting.substr(equals + 1));
  if (set) return {};
  std::string message = fmt::format("failed to set {}: {}", flag.empty() ? "-x " + name : flag, set.error().message);
  for (const std::string& hint : dif::option_hints(name)) message += fmt::format("\n    hint: {}", hint);
  return Error{message};
}

std::vector<std::string> command_line_settings(const ScriptOptions& given) {
  std::vector<std::string> settings;
  if (given.quiet) settings.push_back("quiet");
  if (given.destructive) settings.push_back("destructive");
  if (given.zero_matches) settings.push_back("zdefs");
  if (given.flow_indent) settings.push_back("flowindent");
  for (const std::string& folder : given.library_folders) settings.push_back("libdir=" + folder);
  settings.insert(settings.end(), given.settings.begin(), given.settings.end());
  return settings;
}

void add_programs(CLI::App& command, ScriptOptions& options) {
  const HelpGroup group(command, "Script");
  using Form = GivenProgram::Form;
  add_program(command, options, Form::name, "-n", "SCRIPT", "D script given as text");
  add_program(command, options, Form::file, "-s", "FILE", "D script in a file");
  add_program(command, options, Form::provider, "-P", "PROVIDER[{...}]", "Select the probes of this provider");
  add_program(command, options, Form::module, "-m", "MODULE[{...}]", "Select the probes of this [provider:]module");
  add_program(command, options, Form::function, "-f", "FUNCTION[{...}]",
              "Select the probes of this [[provider:]module:]function");
  add_program(command, options, Form::name, "-i", "ID[{...}]", "Select the probe with this number");
}

void add_script_options(CLI::App& command, ScriptOptions& options, const std::string& operands) {
  add_programs(command, options);
  command.add_option("-L", options.library_folders, "Also read the D libraries of this folder")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->take_all()
      ->group("Script");
  add_setting_options(command, options);
  add_preprocessor_options(command, options);
  {
    const HelpGroup group(command, "Preprocessor");
    add_setting(command, options, "-X", "stdc", "LEVEL", "Set the preprocessor's conformity to the C standard: a, c, s or t");
  }
  command
      .add_flag("-v", options.verbose, "Print the backend and engine of each clause, the stability of names, and omitted probes")
      ->group("Output");
  command
      .add_option("operands", options.operands,
                  operands == "[SCRIPT]" ? "D script in a file"
                                         : "D script in a file, and its arguments $1, $2, ...; with -n or -s, arguments only")
      ->option_text(operands)
      ->take_all();
}

void add_setting(CLI::App& command, ScriptOptions& options, const char* flag, const char* name, const char* type,
                 const char* help) {
  const auto set = [&options, flag = std::string(flag), name = std::string(name)](const std::string& value) {
    options.settings.push_back(name + "=" + value);
    options.flags[options.settings.back()] = flag + " " + value;
  };
  command.add_option_function<std::string>(flag, set, help)
      ->type_name(type)
      ->trigger_on_parse()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_setting_options(CLI::App& command, ScriptOptions& options) {
  const HelpGroup group(command, "Tracing");
  // Each when it is parsed, like those of add_setting(): the last one on the command line wins.
  const auto set = [&options](const std::string& setting) { options.settings.push_back(setting); };
  command.add_option_function<std::string>("-x", set, "Set a run-time option (dvm compile --options lists them)")
      ->type_name("NAME[=VALUE]")
      ->trigger_on_parse()
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_flag("-Z", options.zero_matches, "Allow probe descriptions that match no probes");
}

void add_process_options(CLI::App& command, ScriptOptions& options, bool traces) {
  const HelpGroup group(command, "Processes");
  // No error of usage in dtrace, so not one of CLI11's.
  auto is_pid = [](const std::string& text) {
    if (const auto pid = parse_pid(text); !pid) throw std::runtime_error(pid.error().message);
    return std::string();
  };
  command
      .add_option("-p", options.pids,
                  traces ? "Trace this process; $target is its id" : "Take probes and types from this process; $target is its id")
      ->type_name("PID")
      ->allow_extra_args(false)
      ->take_all()
      ->check(is_pid);
  auto not_empty = [](const std::string& text) {
    return text.find_first_not_of(" \t\n") == std::string::npos ? std::string("the command is empty") : std::string();
  };
  command
      .add_option("-c", options.commands,
                  traces ? "Start this command and trace it; $target is its id"
                         : "Start this command, for its probes and types; $target is its id")
      ->type_name("'CMD ARGS'")
      ->allow_extra_args(false)
      ->take_all()
      ->check(not_empty);
}

Result<std::vector<compiler::Source>> read_sources(const ScriptOptions& given, const dif::Options& options) {
  std::vector<compiler::Source> sources;
  for (const GivenProgram& program : given.programs) {
    Result<compiler::Source> source = read_program(program);
    if (!source) return source.error();
    sources.push_back(std::move(*source));
  }
  if (given.programs.empty()) {
    if (given.operands.empty()) return Error{"no script: name a file, or give one with -n"};
    Result<compiler::Source> source = read_file(given.operands[0]);
    if (!source) return source.error();
    sources.push_back(std::move(*source));
  }
  if (Status done = preprocess_all(sources, given, options); !done) return done.error();
  return sources;
}

std::vector<std::string> macro_arguments(const ScriptOptions& options) {
  std::vector<std::string> arguments = options.operands;
  if (!options.programs.empty()) {
    const auto script = std::find_if(options.programs.begin(), options.programs.end(),
                                     [](const GivenProgram& p) { return p.form == GivenProgram::Form::file; });
    arguments.insert(arguments.begin(), script == options.programs.end() ? std::string(g_program_name) : script->text);
  }
  return arguments;
}

namespace {

// DTRACE_OPT_STRSIZE=512: weaker than pragmas and -x. The environment may be meant for another dtrace, so what is unknown or
// wrong is ignored, as in DTrace.
void set_from_environment(dif::Options& options) {
  constexpr std::string_view kPrefix = "DTRACE_OPT_";
  for (char** entry = environ; *entry != nullptr; entry++) {
    std::string setting = *entry;
    if (!setting.starts_with(kPrefix)) continue;
    setting.erase(0, kPrefix.size());
    const size_t end = std::min(setting.find('='), setting.size());
    std::transform(setting.begin(), setting.begin() + static_cast<std::ptrdiff_t>(end), setting.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    (void)set_option(options, setting);
  }
}

}  // namespace

Result<dif::Options> run_time_options(const ScriptOptions& given, dif::Options options) {
  set_from_environment(options);
  for (const std::string& setting : command_line_settings(given)) {
    const auto flag = given.flags.find(setting);
    Status set = set_option(options, setting, flag == given.flags.end() ? "" : flag->second);
    if (!set) return set.error();
  }
  return options;
}

std::map<std::string, std::string> macro_values(pid_t target) {
  std::map<std::string, std::string> macros = {
      {"pid", std::to_string(getpid())},
      {"ppid", std::to_string(getppid())},
      {"uid", std::to_string(getuid())},
      {"euid", std::to_string(geteuid())},
      {"gid", std::to_string(getgid())},
      {"egid", std::to_string(getegid())},
      {"pgid", std::to_string(getpgid(0))},
      {"sid", std::to_string(getsid(0))},
      {"projid", "0"},
      {"taskid", "0"},  // Linux has neither
  };
  if (target != 0) macros["target"] = std::to_string(target);
  return macros;
}

Status set_target(dif::ProbeDesc& description, pid_t target) {
  for (std::string* field : {&description.provider, &description.module, &description.function, &description.name}) {
    auto expanded = dif::expand_macros(*field, [&](std::string_view name, size_t) -> std::optional<std::string> {
      if (name != "target") return fmt::format("${}", name);
      return target == 0 ? std::nullopt : std::optional(std::to_string(target));
    });
    if (!expanded) return Error{"$target needs -p PID or -c CMD"};
    *field = std::move(*expanded);
  }
  return {};
}

Result<compiler::CompileOptions> compile_options(const ScriptOptions& given, const CompileAgainst& against,
                                                 const dif::Options& options) {
  compiler::CompileOptions how;
  how.arguments = macro_arguments(given);
  how.macros = macro_values(against.target);
  how.default_arguments = options[dif::Option::defaultargs] != 0;
  how.refuse_unused_arguments = options[dif::Option::argref] == 0;
  how.allow_empty = options[dif::Option::empty] > 0;
  how.allow_zero_matches = options[dif::Option::zdefs] != 0;
  how.keep_target = against.keep_target;
  how.refuse_target = against.refuse_target;
  how.print_tree = given.print_tree;
  how.minimum = dif::unpack_attributes(options[dif::Option::amin]);
  how.version = static_cast<uint32_t>(options[dif::Option::version]);
  how.scratch_size = dif::scratch_size(options);
  how.prefers_probes = options[dif::Option::pspec] > 0;
  how.string_size = static_cast<uint64_t>(options[dif::Option::strsize]);
  for (const std::string& setting : command_line_settings(given)) how.settled.insert(setting.substr(0, setting.find('=')));
  Result<std::vector<compiler::Library>> libraries = read_libraries(options);
  if (!libraries) return libraries.error();
  how.libraries = std::move(*libraries);
  how.types = against.types;
  return how;
}

std::optional<dif::ProbeDesc> find_probe(runtime::Handle& handle, uint64_t id) {
  if (id > UINT32_MAX) return {};
  (void)handle.discover(dif::ProbeDesc{"dtrace", "", "", ""});  // a recording has only the other ones
  const runtime::Probe* probe = handle.catalog().find(static_cast<uint32_t>(id));
  if (probe == nullptr) return {};
  return dif::ProbeDesc{probe->provider, probe->module, probe->function, probe->name};
}

std::vector<compiler::CompiledSource> compile_sources(const std::vector<compiler::Source>& sources, const ScriptOptions& given,
                                                      const CompileAgainst& against, dif::Options& options) {
  Result<compiler::CompileOptions> how = compile_options(given, against, options);
  if (!how) {
    tell("{}", how.error().message);
    return {};
  }
  std::optional<HandleCatalog> catalog;
  how->catalog = against.numbers;
  if (against.handle != nullptr) how->catalog = &catalog.emplace(*against.handle);
  compiler::CompileResult result = compiler::compile(sources, *how);
  if (against.shows_warnings || result.programs.empty())
    show(result.diagnostics, sources, given, options[dif::Option::errtags] != 0);
  if (against.declared != nullptr) *against.declared = std::move(result.providers);
  for (const compiler::CompiledSource& program : result.programs)
    for (const auto& [name, value] : program.options) (void)options.set(name, value);  // the compiler has checked them
  for (const std::string& setting : command_line_settings(given)) (void)set_option(options, setting);  // these win
  if (given.verbose)
    for (size_t i = 0; i < result.programs.size(); i++)
      fmt::print("{}", compiler::stability_report(sources[i], result.programs[i]));
  const auto matches = [](const compiler::CompiledSource& program) { return program.matched != 0; };
  if (against.handle != nullptr && !given.may_match_nothing && options[dif::Option::zdefs] == 0 && !result.programs.empty() &&
      std::none_of(result.programs.begin(), result.programs.end(), matches)) {
    if (options[dif::Option::quiet] == 0)
      for (const compiler::Source& source : sources) tell("{}", matched_line(source, 0));
    tell("no probes matched");  // declarations alone would wait for nothing
    return {};
  }
  return std::move(result.programs);
}

std::vector<compiler::ProbeDescription> describe_probes(const std::vector<const runtime::Probe*>& probes,
                                                        const std::vector<compiler::Source>& sources, const ScriptOptions& given,
                                                        const CompileAgainst& against, const dif::Options& options) {
  Result<compiler::CompileOptions> how = compile_options(given, against, options);
  if (!how) return {};
  HandleCatalog catalog(*against.handle);
  how->catalog = &catalog;
  for (compiler::Library& library : how->libraries) library.if_named = false;  // any may declare the probes
  for (const runtime::Probe* p : probes) how->described.push_back({p->provider, p->module, p->function, p->name});
  compiler::CompileResult described = compiler::compile(sources, *how);
  if (described.descriptions.empty())
    described = compiler::compile({}, *how);  // the sources collide with a library they do not need
  return std::move(described.descriptions);
}

// Like dtrace(1), shows a script of -n up to its first brace, slash or semicolon, even if declarations come first.
std::string matched_line(const compiler::Source& source, size_t matched) {
  std::string what = source.is_description ? source.name.substr(0, source.name.find_first_of("/{;")) : source.name;
  return fmt::format("{} '{}' matched {} probe{}", source.is_description ? "description" : "script", what, matched,
                     matched == 1 ? "" : "s");
}

}  // namespace dvm::cmd
