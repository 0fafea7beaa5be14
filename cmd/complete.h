#pragma once
// dvm complete LINE: candidates for the last word of a command line, for the completion scripts of shells. Each line of the
// output is a candidate, a tab and its text; three dots as text: more of the word may follow. Nothing is printed where a file may
// follow.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace dvm::cmd {

struct ScriptOptions;

// The words of a command line as a shell splits them; the last one, which may be empty or in open quotes, is being typed.
std::vector<std::string> split_line(std::string_view line);

// Prints the candidates for the last word of the line.
int complete(const CLI::App& app, std::string_view line);

// Probe descriptions that begin with the text and end at field `last`: 0 the provider, 3 the name. One whose last field is an
// earlier one ends with a colon. `given` names the process, if any.
std::vector<std::string> complete_description(const ScriptOptions& given, const std::string& text, size_t last);

// Names for the last of the fields, which are the module and, if there are two, the function of probes of the process; none
// without a process.
std::vector<std::string> complete_field(const ScriptOptions& given, std::vector<std::string> fields);

}  // namespace dvm::cmd
