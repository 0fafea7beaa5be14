#pragma once
// The common parts of the subcommands: options that name programs and processes, reading sources, compiling them against the
// probes of a handle, and showing diagnostics.

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/preprocess.h"
#include "dvm/common/result.h"
#include "dvm/compiler/compile.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"

namespace CLI {
class App;
}

namespace dvm::cmd {

// A program as the command line gives it: a file (-s), or a text. The form of a text says which field its probe descriptions end
// with: the provider (-P), the module (-m), the function (-f), or the name (-n, -i).
struct GivenProgram {
  enum class Form : uint8_t { provider, module, function, name, file };
  Form form = Form::name;
  std::string text;  // the file's path, or the program
};

// Options as given on the command line, before anything was opened.
struct ScriptOptions {
  std::vector<GivenProgram> programs;
  // The script (without -n and -s), then $1, $2, ...
  std::vector<std::string> operands;
  std::vector<std::string> settings;  // -x name[=value]
  // Settings that other options made: "bufsize=1m" by "-b 1m".
  std::map<std::string, std::string> flags;
  std::vector<std::string> library_folders;       // -L
  std::vector<pid_t> pids;                        // -p
  std::vector<std::string> commands;              // -c
  bool print_tree = false;                        // dvm compile prints the syntax tree
  bool preprocess = false, show_headers = false;  // -C, -H
  std::vector<std::string> preprocessor;          // -D, -U and -I as given
  bool json = false;                              // diagnostics as data
  bool verbose = false;                           // say how stable the programs are
  bool quiet = false, destructive = false, zero_matches = false, flow_indent = false;
  bool may_match_nothing = false;  // -e: a script of declarations is no error
};

// operands: how the positional arguments are described in the help.
void add_script_options(CLI::App& command, ScriptOptions& options, const std::string& operands);
// Adds only -n, -s, -P, -m, -f and -i.
void add_programs(CLI::App& command, ScriptOptions& options);
// Adds only -C, -D, -U, -I and -H.
void add_preprocessor_options(CLI::App& command, ScriptOptions& options);
// The preprocessor with the arguments that flags and -x give it; none without -C.
std::optional<Preprocessor> preprocessor(const ScriptOptions& given, const dif::Options& options);
// An option whose value sets the run-time option NAME; the last one counts.
void add_setting(CLI::App& command, ScriptOptions& options, const char* flag, const char* name, const char* type,
                 const char* help);
// Those of add_script_options that a compiled program takes too: -x and -Z.
void add_setting_options(CLI::App& command, ScriptOptions& options);
void add_process_options(CLI::App& command, ScriptOptions& options, bool traces = true);

// Reads every file, through the preprocessor if that is wanted. "-" is standard input.
Result<std::vector<compiler::Source>> read_sources(const ScriptOptions& given, const dif::Options& options);

// The columns of a diagnostic in the line as it was written. A diagnostic about text that the preprocessor has made covers the
// whole line, unless the line contains that text exactly once.
struct Columns {
  size_t begin, end;  // from 1, the end one past
};
Columns columns(const compiler::Diagnostic& diagnostic);

// The values of $0, $1, ... in the sources.
std::vector<std::string> macro_arguments(const ScriptOptions& options);

// Sets one option as -x does. flag: the other spelling that the command line used, for errors.
Status set_option(dif::Options& options, const std::string& setting, const std::string& flag = "");
// All settings of the command line, each in the form that -x takes.
std::vector<std::string> command_line_settings(const ScriptOptions& options);
// `options` with the settings of the environment and of the command line added. The script's own pragmas are applied later.
Result<dif::Options> run_time_options(const ScriptOptions& given, dif::Options options = {});

// The probes that match a description, or the reason why none does. advises: with hints, which may take long to find.
compiler::ProbeMatches match_probes(runtime::Handle& handle, const dif::ProbeDesc& description, bool advises);

// Values of $pid, $uid, ... and, if target is not 0, $target.
std::map<std::string, std::string> macro_values(pid_t target);

// Replaces $target in a description that was compiled without its value. Fails if the description has it and target is 0.
Status set_target(dif::ProbeDesc& description, pid_t target);

// The probe with a number, as dvm list prints it.
std::optional<dif::ProbeDesc> find_probe(runtime::Handle& handle, uint64_t id);

// Everything that a program is compiled against.
struct CompileAgainst {
  // Descriptions are matched with its probes. Null: they are not matched.
  runtime::Handle* handle = nullptr;
  compiler::TypeCatalog* types = nullptr;  // of the traced program
  pid_t target = 0;                        // $target; 0: none
  // $target stays in probe descriptions, for a later enabling; elsewhere it is an error, since its value is not known yet.
  bool keep_target = false, refuse_target = false;
  // Takes the providers that the sources declare.
  std::vector<compiler::ProviderDesc>* declared = nullptr;
  compiler::ProbeCatalog* numbers = nullptr;  // without a handle: finds probes by number, and matches every description
  bool shows_warnings = true;
};

// Fails if a D library cannot be read.
Result<compiler::CompileOptions> compile_options(const ScriptOptions& given, const CompileAgainst& against,
                                                 const dif::Options& options);

// Prints diagnostics on standard error, applies the pragmas to `options`. Empty result: there were errors, and they have been
// shown.
std::vector<compiler::CompiledSource> compile_sources(const std::vector<compiler::Source>& sources, const ScriptOptions& given,
                                                      const CompileAgainst& against, dif::Options& options);

// What is known of each of the probes, also by the declarations of the sources; nothing where the libraries have an error.
std::vector<compiler::ProbeDescription> describe_probes(const std::vector<const runtime::Probe*>& probes,
                                                        const std::vector<compiler::Source>& sources, const ScriptOptions& given,
                                                        const CompileAgainst& against, const dif::Options& options);

// "script 'x.d' matched 3 probes" or "description 'BEGIN' matched 1 probe".
std::string matched_line(const compiler::Source& source, size_t matched);

}  // namespace dvm::cmd
