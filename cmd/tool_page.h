#pragma once
// The ready scripts of tools/: a script whose first comment is its page and declares its options.
//
//   /*
//    * funccount: calls of functions of a process          name and summary
//    *
//    *   FUNCTION    $1 = a.out  Text                      an operand, and the macro argument that it becomes; "= DEFAULT" if it
//    *   -d SECONDS  $3 = 0      Text                      may be left out; a flag without a value is 0 or 1
//    *   -r RATE     $4 = 9 [1..99]  Text                  the numbers that it takes, or texts that end with a number
//    *
//    * Rows: pid comm                                      names of the columns in JSON: of printf(), or "Rows of @calls:" of
//    printa()
//    * Needs: PROBE...                                     or "Needs one of:"; the tool says which is not there
//    */

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/runtime/handle.h"

namespace dvm::cmd {

struct ToolOption {
  std::string flag;     // "-d"; empty: an operand
  std::string value;    // name of its value; empty: a flag
  size_t argument = 0;  // N of $N
  std::optional<std::string> otherwise;
  std::string least, most;  // empty: it takes any text
  std::string text;
};

struct Tool {
  std::string name, summary, script;
  std::vector<ToolOption> options;
  std::vector<std::string> notes;  // the page's other lines
  std::vector<runtime::NamedRow> rows;
  std::vector<std::string> needs;  // probe descriptions
  bool needs_one = false;          // one of them is enough
  bool needs_process = false;      // the script names $target
};

// The summary of each tool, by name.
std::map<std::string, std::string> tool_summaries();

Tool parse_tool(std::string name, std::string script);

// Nothing: there is no such tool.
std::optional<Tool> find_tool(const std::string& name);

// The options of dvm run that the tool takes too.
std::vector<std::string_view> run_options_of(const Tool& tool);

// The process that an option of the tool's own names; 0: none.
pid_t named_process(const Tool& tool, const std::vector<std::string>& arguments);

// The output of `dvm tool NAME --help`.
std::string tool_page(const Tool& tool);

// $1, $2, ... for what was given on the command line; an error that says what is wrong with it.
// rest: takes the words that the tool does not declare, for dvm run.
Result<std::vector<std::string>> tool_arguments(const Tool& tool, const std::vector<std::string>& words,
                                                std::vector<std::string>& rest);

}  // namespace dvm::cmd
