// Covered by tests/runtime/scenarios/test_tools.py.

#include "cmd/tool_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/printable.h"
#include "dvm/dif/probe_desc.h"

namespace dvm::cmd {
namespace {

constexpr const char* kMost = "1000000000000";  // of numbers without a range; in milliseconds it is no overflow in ns

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

// The next word of `text`, which is taken off.
std::string take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return std::string(word);
}

// "[1..99]"; false: it is none.
bool take_range(ToolOption& option, std::string_view& text) {
  std::string_view after = text;
  const std::string word = take_word(after);
  const size_t dots = word.find("..");
  if (!word.starts_with('[') || !word.ends_with(']') || dots == std::string::npos) return false;
  option.least = word.substr(1, dots - 1);
  option.most = word.substr(dots + 2, word.size() - dots - 3);
  text = after;
  return true;
}

bool is_integer(const std::string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                           [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "-d SECONDS   $2 = 0  Text"; nothing: the line declares no option.
std::optional<ToolOption> parse_option(std::string_view line) {
  const size_t dollar = line.find('$');
  if (!line.starts_with("  ") || dollar == std::string_view::npos) return {};
  std::string_view head = line.substr(0, dollar), tail = line.substr(dollar + 1);
  ToolOption option;
  const std::string first = take_word(head);
  if (first.starts_with('-')) option.flag = first;
  option.value = first.starts_with('-') ? take_word(head) : first;
  const std::string number = take_word(tail);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), option.argument);
  if (error != std::errc() || end != number.data() + number.size()) return {};
  std::string_view after = tail;
  if (take_word(after) == "=") {
    option.otherwise = take_word(after);
    if (*option.otherwise == "\"\"") option.otherwise->clear();
    tail = after;
  }
  if (!take_range(option, tail) && option.otherwise && is_integer(*option.otherwise)) option.least = "0", option.most = kMost;
  option.text = trimmed(tail);
  return option;
}

bool is_column(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// "Rows: pid comm", "Rows of @calls: name count". Prose that begins so is a note.
bool take_rows(Tool& tool, const std::string& line) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("Rows") || colon == std::string::npos) return false;
  runtime::NamedRow row;
  if (const size_t at = line.find('@'); at < colon) row.aggregation = line.substr(at, colon - at);
  std::string_view rest = std::string_view(line).substr(colon + 1);
  for (std::string word = take_word(rest); !word.empty(); word = take_word(rest)) row.columns.push_back(word);
  if (!std::all_of(row.columns.begin(), row.columns.end(), is_column)) return false;
  tool.rows.push_back(std::move(row));
  return true;
}

bool take_needs(Tool& tool, const std::string& line) {
  for (const std::string_view prefix : {"Needs: ", "Needs one of: "}) {
    if (!line.starts_with(prefix)) continue;
    tool.needs_one = prefix != "Needs: ";
    std::string_view rest = std::string_view(line).substr(prefix.size());
    for (std::string word = take_word(rest); !word.empty(); word = take_word(rest)) tool.needs.push_back(word);
    return true;
  }
  return false;
}

void take_line(Tool& tool, const std::string& line) {
  const std::string title = tool.name + ": ";
  if (line.starts_with(title))
    tool.summary = line.substr(title.size());
  else if (std::optional<ToolOption> option = parse_option(line))
    tool.options.push_back(std::move(*option));
  else if (!take_needs(tool, line) && !take_rows(tool, line) &&
           (!line.empty() || (!tool.notes.empty() && !tool.notes.back().empty())))
    tool.notes.push_back(line);
}

std::string spelled(const ToolOption& option) {
  if (option.flag.empty()) return option.value;
  return option.value.empty() ? option.flag : option.flag + " " + option.value;
}

std::string usage_of(const Tool& tool) {
  std::string text =
      fmt::format("dvm tool {} {}", tool.name, tool.needs_process ? "(-p PID | -c 'CMD ARGS') [OPTIONS]" : "[OPTIONS]");
  for (const ToolOption& option : tool.options)
    if (option.flag.empty()) text += option.otherwise ? fmt::format(" [{}]", option.value) : " " + option.value;
  return text;
}

bool is_running(const std::string& pid) { return std::filesystem::exists("/proc/" + pid); }

// The text before the number: "arg" of "arg9".
std::string before_number(const std::string& text) { return text.substr(0, text.find_first_of("-0123456789")); }

int64_t number_of(const std::string& text) { return std::strtoll(text.c_str() + before_number(text).size(), nullptr, 10); }

// The values of an option, such as "a number from 1 to 99" or "arg0 to arg9".
std::string expected(const ToolOption& option) {
  return fmt::format("{}{} to {}", is_integer(option.least) ? "a number from " : "", option.least, option.most);
}

// The value as D reads it: without leading zeros, which would make it octal. Nothing: the option does not take it.
std::optional<std::string> value_in_range(const ToolOption& option, const std::string& value) {
  if (option.least.empty()) return value;
  const std::string before = before_number(option.least);
  if (!value.starts_with(before)) return {};
  const std::string digits = value.substr(before.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  if (number < number_of(option.least) || number > number_of(option.most)) return {};
  return before + std::to_string(number);
}

// A name or a pattern that can be a field of a probe description.
bool is_field(const std::string& text) {
  const bool is_text = std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
  return is_text && !dif::unquoted(text).empty() && std::count(text.begin(), text.end(), '"') % 2 == 0;
}

// Makes the value what the script gets.
Status take_value(const Tool& tool, const ToolOption& option, std::string& value) {
  const auto wrong = [&](const std::string& problem) { return Error{fmt::format("tool {}: {}", tool.name, problem)}; };
  if (option.flag.empty()) {
    if (!is_field(value)) return wrong(fmt::format("{} is a name or a pattern, not '{}'", option.value, printable(value)));
    if (value.find('"') == std::string::npos) value = dif::quoted(value);
    return {};
  }
  const std::optional<std::string> taken = value_in_range(option, value);
  if (!taken) return wrong(fmt::format("{} takes {}, not '{}'", option.flag, expected(option), printable(value)));
  value = *taken;
  if (option.value == "PID" && !is_running(value)) return wrong(fmt::format("there is no process {}", value));
  return {};
}

// The default of an option, and the values that it takes if these are limited.
std::string limits_of(const ToolOption& option) {
  std::string text;
  if (!option.least.empty() && option.most != kMost && !option.value.empty())
    text = fmt::format("{} to {}", option.least, option.most);
  if (option.otherwise && !option.otherwise->empty() && !option.value.empty())
    text += fmt::format("{}default {}", text.empty() ? "" : "; ", *option.otherwise);
  return text.empty() ? "" : fmt::format(" ({})", text);
}

// Options of dvm run that stand in the list of every tool; -p and -c are in the line of its usage.
std::vector<std::string> passed_on(const Tool& tool) {
  std::vector<std::string> all;
  for (const std::string_view name : run_options_of(tool))
    if (name != "-p" && name != "-c")
      all.push_back(fmt::format("{}{}", name, name == "-o" ? " FILE" : name == "-x" ? " NAME[=VALUE]" : ""));
  return all;
}

// Which rows have the columns, as " of waits"; empty: all.
std::string part_of(const Tool& tool, const runtime::NamedRow& row) {
  if (row.aggregation.size() > 1) return " of " + row.aggregation.substr(1);
  const auto is_other = [&row](const runtime::NamedRow& one) { return one.aggregation.empty() != row.aggregation.empty(); };
  if (std::none_of(tool.rows.begin(), tool.rows.end(), is_other)) return "";
  return row.aggregation.empty() ? " of the lines above the table" : " of the table";
}

class ToolArguments {
 public:
  ToolArguments(const Tool& tool, const std::vector<std::string>& words, std::vector<std::string>& rest)
      : tool_(tool), words_(words), rest_(rest), values_(tool.options.size()) {}

  Result<std::vector<std::string>> run() {
    while (next_ < words_.size())
      if (Status taken = take(words_[next_++]); !taken) return taken.error();
    std::vector<std::string> arguments(tool_.options.size());
    for (size_t i = 0; i < values_.size(); i++) {
      const ToolOption& option = tool_.options[i];
      if (!values_[i] && !option.otherwise) return wrong(fmt::format("{} is missing: {}", option.value, usage_of(tool_)));
      if (option.argument == 0 || option.argument > arguments.size()) return wrong("its page numbers the options wrongly");
      arguments[option.argument - 1] = values_[i].value_or(option.otherwise.value_or(""));
    }
    return arguments;
  }

 private:
  Error wrong(const std::string& problem) const { return {fmt::format("tool {}: {}", tool_.name, problem)}; }

  Status take(const std::string& word) {
    for (size_t i = 0; i < tool_.options.size(); i++) {
      const ToolOption& option = tool_.options[i];
      if (option.flag.empty() ? word.starts_with('-') || values_[i].has_value() : option.flag != word) continue;
      return set(option, values_[i], word);
    }
    if (!word.starts_with('-')) return wrong(fmt::format("'{}' is one operand too many: {}", word, usage_of(tool_)));
    return pass_on(word);
  }

  Status set(const ToolOption& option, std::optional<std::string>& value, const std::string& word) {
    if (option.flag.empty())
      value = word;
    else if (option.value.empty())
      value = "1";
    else if (next_ == words_.size())
      return wrong(fmt::format("{} needs {}", option.flag, option.value));
    else
      value = words_[next_++];
    return take_value(tool_, option, *value);
  }

  // Options of dvm run that every tool takes.
  Status pass_on(const std::string& word) {
    const std::vector<std::string_view> all = run_options_of(tool_);
    if (std::find(all.begin(), all.end(), word) == all.end())
      return wrong(fmt::format("there is no option '{}'\n    for more, see dvm tool {} --help", word, tool_.name));
    rest_.push_back(word);
    if (word == "--json" || word == "-v" || word == "-Z") return {};
    if (next_ == words_.size()) return wrong(fmt::format("{} needs a value", word));
    rest_.push_back(words_[next_++]);
    return {};
  }

  const Tool& tool_;
  const std::vector<std::string>& words_;
  std::vector<std::string>& rest_;
  std::vector<std::optional<std::string>> values_;
  size_t next_ = 0;
};

}  // namespace

Tool parse_tool(std::string name, std::string script) {
  Tool tool;
  tool.name = std::move(name);
  tool.needs_process = script.find("$target") != std::string::npos;
  std::istringstream lines(script);
  bool in_page = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == " */") break;
    if (in_page) take_line(tool, line.substr(std::min<size_t>(3, line.size())));
    in_page |= line == "/*";
  }
  while (!tool.notes.empty() && tool.notes.back().empty()) tool.notes.pop_back();
  tool.script = std::move(script);
  return tool;
}

std::vector<std::string_view> run_options_of(const Tool& tool) {
  std::vector<std::string_view> all = {"-o", "-x", "--json", "-v"};
  if (tool.needs_process) all.insert(all.begin(), {"-p", "-c", "-Z"});
  const auto is_own = [&tool](std::string_view name) {
    return std::any_of(tool.options.begin(), tool.options.end(), [&](const ToolOption& option) { return option.flag == name; });
  };
  std::erase_if(all, is_own);
  return all;
}

pid_t named_process(const Tool& tool, const std::vector<std::string>& arguments) {
  for (const ToolOption& option : tool.options)
    if (option.value == "PID") return static_cast<pid_t>(number_of(arguments[option.argument - 1]));
  return 0;
}

std::string tool_page(const Tool& tool) {
  std::string text = fmt::format("{}: {}\n\nUsage: {}\n\n", tool.name, tool.summary, usage_of(tool));
  for (const ToolOption& option : tool.options)
    text += fmt::format("  {:<14}{}{}\n", spelled(option), option.text, limits_of(option));
  text += fmt::format("  {}: as for dvm run\n", fmt::join(passed_on(tool), ", "));
  for (const runtime::NamedRow& row : tool.rows)
    text += fmt::format("\nColumns{} with --json: {}\n", part_of(tool, row), fmt::join(row.columns, ", "));
  if (!tool.notes.empty()) text += "\n";
  for (const std::string& line : tool.notes) text += line + "\n";
  return text;
}

Result<std::vector<std::string>> tool_arguments(const Tool& tool, const std::vector<std::string>& words,
                                                std::vector<std::string>& rest) {
  return ToolArguments(tool, words, rest).run();
}

}  // namespace dvm::cmd
