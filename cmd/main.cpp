// The program: reads the command line, runs one subcommand. tests/runtime covers it from outside.

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/command.h"
#include "cmd/complete.h"
#include "cmd/dtrace.h"
#include "cmd/libraries.h"
#include "cmd/option_problem.h"
#include "cmd/usage.h"
#include "cmd/version.h"

namespace {

// A script may begin with "#!/usr/bin/dvm run -C -s": the kernel then passes "run -C -s" as one argument.
std::vector<std::string> split_interpreter_argument(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    if (i != 1) {
      words.push_back(std::move(word));
      continue;
    }
    std::istringstream parts(word);
    while (parts >> word) words.push_back(word);
  }
  return words;
}

// Opens the standard files that are closed. Otherwise the next file that dvm opens would become its standard output and that of
// its children, and results would be written into it. Each file is opened in the wrong direction, so using it still fails.
void fill_standard_files() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", kModes[fd]) < 0) return;
}

// Each further thread would reserve 64 MB of addresses for its own allocations, of which there are few where they are limited.
void allocate_sparingly() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

// A command succeeds only if its output could be written.
int conclude(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return status != 0 ? status : dvm::cmd::fail("could not write the output: {}", std::strerror(errno));
}

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, dvm::cmd::CommandAction& chosen);
};

constexpr Command kCommands[] = {
    {"run", dvm::cmd::add_run},         {"record", dvm::cmd::add_record},     {"replay", dvm::cmd::add_replay},
    {"compile", dvm::cmd::add_compile}, {"exec", dvm::cmd::add_exec},         {"list", dvm::cmd::add_list},
    {"cost", dvm::cmd::add_cost},       {"simulate", dvm::cmd::add_simulate}, {"header", dvm::cmd::add_header},
    {"detach", dvm::cmd::add_detach},   {"doctor", dvm::cmd::add_doctor},     {"tool", dvm::cmd::add_tool},
    {"merge", dvm::cmd::add_merge},     {"flame", dvm::cmd::add_flame},       {"page", dvm::cmd::add_page},
    {"lsp", dvm::cmd::add_lsp},
};

// Adds the command that the words begin with, or all commands if they begin with none. Making the options of all takes a large
// part of the time in which dvm starts.
void add_commands(CLI::App& app, const std::vector<std::string>& words, dvm::cmd::CommandAction& chosen) {
  const auto* const named = std::find_if(std::begin(kCommands), std::end(kCommands),
                                         [&](const Command& row) { return !words.empty() && row.name == words[0]; });
  if (named != std::end(kCommands)) return named->add(app, chosen);
  for (const Command& row : kCommands) row.add(app, chosen);
}

int run(int argc, char** argv) {
  CLI::App app("dvm: DTrace's D language on Linux, with the cost of every probe", "dvm");
  app.formatter(dvm::cmd::help_formatter());
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", dvm::cmd::version_text, "Print the version, the commit, the engines and the backends");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer("dvm help COMMAND lists the options of a command. The manual begins at " +
             dvm::cmd::documentation("docs/manual/README.md") + ".\n\n" +
             dvm::cmd::examples({"dvm run -n 'pid$target:libc:malloc:entry { @ = quantize(arg0); }' -p 1234",
                                 "dvm run script.d -c './program --flag'",
                                 "dvm record -o trace.dvm -n 'pid$target:a.out:main:entry' -c ./program",
                                 "dvm replay trace.dvm script.d"}));
  dvm::cmd::CommandAction chosen;
  const std::vector<std::string> words = dvm::cmd::spell_out_help(split_interpreter_argument(argc, argv));
  add_commands(app, words, chosen);
  dvm::cmd::refuse_odd_values(app);
  app.failure_message(
      [&words](const CLI::App* failed, const CLI::Error& error) { return dvm::cmd::option_problem(failed, error, words); });
  if (words.size() == 2 && words[0] == "complete") return dvm::cmd::complete(app, words[1]);  // for shells, not for --help
  if (const std::string problem = dvm::cmd::command_problem(app, words); !problem.empty()) {
    dvm::cmd::fail("{}", problem);
    return 2;
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return conclude(app.exit(error) == 0 ? 0 : 2);  // 0: it printed the help or the version
  }
  return conclude(chosen());
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_files();
  allocate_sparingly();
  try {
    if (dvm::cmd::is_called_dtrace(argc > 0 ? argv[0] : nullptr)) return conclude(dvm::cmd::run_as_dtrace(argc, argv));
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return dvm::cmd::fail("there is not enough memory, or a limit leaves too little of it (ulimit -v)");
  } catch (const std::exception& error) {  // an error of a library
    return dvm::cmd::fail("{}", error.what());
  }
}
