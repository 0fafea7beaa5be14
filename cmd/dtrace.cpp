// dtrace's command line, option by option (dtrace_options.def). Covered by tests/runtime/scenarios/test_dtrace.py.

#include "cmd/dtrace.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "cmd/command.h"
#include "cmd/header.h"
#include "cmd/parse_pid.h"
#include "cmd/tracing.h"
#include "cmd/version.h"

namespace dvm::cmd {
namespace {

// dtrace's own letters and words.
constexpr const char* kUsageText =
    R"(Usage: dtrace [-64] [-aACeFGhHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]]
	[-I path] [-L path] [-o output] [-p pid] [-s script] [-U name]
	[-x opt[=val]] [-X a|c|s|t]

	[-P provider [[ predicate ] action ]]
	[-m [ provider: ] module [[ predicate ] action ]]
	[-f [[ provider: ] module: ] func [[ predicate ] action ]]
	[-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]
	[-i probe-id [[ predicate ] action ]] [ args ... ]
)";

// The command line as it was given.
struct CommandLine {
  TracingOptions tracing;
  char mode = 0;        // G, h, l or V; 0: trace
  std::string problem;  // of the first option that is wrong
  int status = 0;       // the exit status that it has

  ScriptOptions& script() { return tracing.script; }
  void program(GivenProgram::Form form, const std::string& text) { script().programs.push_back({form, text}); }

  void set(char letter, const char* name, const std::string& value) {
    script().settings.push_back(fmt::format("{}={}", name, value));
    script().flags[script().settings.back()] = fmt::format("-{} {}", letter, value);
  }

  void choose(char wanted) {
    if (mode != 0 && mode != wanted) complain("only one of the [-AGhlV] options can be specified at a time", kBadUsage);
    mode = wanted;
  }

  void command(const std::string& text) {
    if (text.find_first_not_of(" \t\n") == std::string::npos) complain("option -c: the command is empty");
    script().commands.push_back(text);
  }

  void process(const std::string& text) {
    const auto pid = parse_pid(text);
    if (!pid) return complain(pid.error().message);
    script().pids.push_back(*pid);
  }

  void model(const std::string& bits) {
    if (bits == "32") return complain("option -32: dvm traces 64-bit programs only");
    if (bits != "64") complain(fmt::format("option -{}: unknown data model", bits));
  }

  void complain(const std::string& text, int with = 1) {
    if (problem.empty()) problem = text, status = with;
  }
};

// For getopt().
std::string letters() {
  std::string all;
#define DVM_DTRACE_FLAG(letter, statement) all += letter;
#define DVM_DTRACE_OPTION(letter, statement) (all += letter) += ':';
#define DVM_DTRACE_REFUSED(letter, reason) all += letter;
#include "cmd/dtrace_options.def"
  return all;
}

void take(CommandLine& line, int letter, const std::string& value) {
  switch (letter) {
#define DVM_DTRACE_FLAG(letter, statement) \
  case letter:                             \
    statement;                             \
    break;
#define DVM_DTRACE_OPTION(letter, statement) DVM_DTRACE_FLAG(letter, statement)
#define DVM_DTRACE_REFUSED(letter, reason)                        \
  case letter:                                                    \
    line.complain(fmt::format("option -{}: {}", letter, reason)); \
    break;
#include "cmd/dtrace_options.def"
    default:
      break;
  }
}

int print_version(bool is_verbose) {
  const auto version = static_cast<unsigned>(dif::Options()[dif::Option::version]);
  fmt::print("{}: dvm D {}.{}\n", g_program_name, version >> 24, version >> 12 & 0xfff);
  if (is_verbose) fmt::print("{}\n", version_text());
  return 0;
}

int usage() {
  std::fputs(kUsageText, stderr);
  return kBadUsage;
}

int misused(std::string_view problem) {
  fail("{}", problem);
  return kBadUsage;
}

int build(const CommandLine& line) {
  ScriptOptions script = line.tracing.script;
  if (script.programs.empty()) return misused(fmt::format("-{} requires one or more scripts or enabling options", line.mode));
  if (line.mode == 'h') return write_probe_header(script, line.tracing.output, "-h");
  const std::vector<std::string> objects = std::move(script.operands);
  script.operands.clear();
  return write_probe_object(script, line.tracing.output, objects);
}

int run(CommandLine& line) {
  if (!line.problem.empty()) return fail("{}", line.problem), line.status;
  if (line.mode == 'V') return print_version(line.script().verbose);
  if (line.mode == 'G' || line.mode == 'h') return build(line);
  line.tracing.list_probes = line.mode == 'l';
  if (Result<dif::Options> options = run_time_options(line.script()); !options) return fail("{}", options.error().message);
  if (line.script().programs.empty()) {
    if (line.mode != 'l') return line.tracing.compile_only ? 0 : fail("no probes specified");
    if (!line.script().operands.empty()) return misused("-l takes probe descriptions by -P, -m, -f, -n and -i only");
  }
  const auto open = [&line](const dif::Options& options, int terminal) {
    return open_live_source(line.script(), options, terminal);
  };
  return trace(line.tracing, open).status;
}

}  // namespace

std::string dtrace_letters() {
  std::string all;
#define DVM_DTRACE_FLAG(letter, statement) all += letter;
#define DVM_DTRACE_OPTION(letter, statement) all += letter;
#define DVM_DTRACE_REFUSED(letter, reason)
#include "cmd/dtrace_options.def"
  return all;
}

bool is_called_dtrace(const char* path) {
  const std::string_view name = path == nullptr ? "" : path;
  return name.substr(name.rfind('/') + 1) == "dtrace";
}

int run_as_dtrace(int argc, char** argv) {
  g_program_name = "dtrace";
  if (argc < 2) return usage();
  static char name[] = "dtrace";
  argv[0] = name;  // getopt() begins its messages with it
  CommandLine line;
  const std::string all = letters();
  for (int letter; (letter = getopt(argc, argv, all.c_str())) != -1;) {
    if (letter == '?') return usage();
    take(line, letter, optarg == nullptr ? "" : optarg);
  }
  line.script().operands.assign(argv + optind, argv + argc);
  return run(line);
}

}  // namespace dvm::cmd
