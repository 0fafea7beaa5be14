// The program: reads the command line, runs one subcommand. tests/runtime covers it from outside.

#include <string>
#include <vector>

#include "cmd/command.h"

namespace {

// A script may begin with "#!/usr/bin/dvm run -s": the kernel then passes "run -s" as one argument.
std::vector<std::string> split_interpreter_argument(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    size_t space = i == 1 ? word.find(' ') : std::string::npos;
    if (space == std::string::npos) {
      words.push_back(std::move(word));
    } else {
      words.push_back(word.substr(0, space));
      words.push_back(word.substr(word.find_first_not_of(' ', space)));
    }
  }
  return words;
}

int run(int argc, char** argv) {
  CLI::App app("dvm: DTrace's D language on Linux, with the cost of every probe", "dvm");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", "dvm " DVM_VERSION);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(
      "Examples:\n"
      "  dvm run -n 'pid$target:libc:malloc:entry { @ = quantize(arg0); }' -p 1234\n"
      "  dvm run script.d -c './program --flag'\n"
      "  dvm record -o trace.dvm -n 'pid$target:a.out:main:entry' -c ./program\n"
      "  dvm replay trace.dvm script.d");
  dvm::cmd::Action chosen;
  dvm::cmd::add_run(app, chosen);
  dvm::cmd::add_record(app, chosen);
  dvm::cmd::add_replay(app, chosen);
  dvm::cmd::add_compile(app, chosen);
  dvm::cmd::add_list(app, chosen);
  try {
    std::vector<std::string> words = split_interpreter_argument(argc, argv);
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // memory ran out, or a library broke its word
    return dvm::cmd::fail("{}", error.what());
  }
}
