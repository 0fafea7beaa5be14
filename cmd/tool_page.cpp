// Covered by tests/runtime/scenarios/test_tools.py.

#include "cmd/tool_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "dvm/dif/probe_desc.h"

namespace dvm::cmd {
namespace {

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
  option.text = trimmed(tail);
  return option;
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
  else if (!take_needs(tool, line) && (!line.empty() || (!tool.notes.empty() && !tool.notes.back().empty())))
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

bool is_integer(const std::string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                           [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_running(const std::string& pid) { return std::filesystem::exists("/proc/" + pid); }

// An option whose default is a number takes only numbers, below 0 only if the default is.
Status check_value(const Tool& tool, const ToolOption& option, const std::string& value) {
  if (!option.otherwise || !is_integer(*option.otherwise)) return {};
  if (!is_integer(value) || (value[0] == '-' && !option.otherwise->starts_with('-')))
    return Error{fmt::format("tool {}: {} takes a number, not '{}'", tool.name, option.flag, value)};
  if (option.value == "PID" && value != *option.otherwise && !is_running(value))
    return Error{fmt::format("tool {}: there is no process {}", tool.name, value)};
  return {};
}

class Arguments {
 public:
  Arguments(const Tool& tool, const std::vector<std::string>& words, std::vector<std::string>& rest)
      : tool_(tool), words_(words), rest_(rest), values_(tool.options.size()) {}

  Result<std::vector<std::string>> run() {
    while (next_ < words_.size())
      if (Status taken = take(words_[next_++]); !taken) return taken.error();
    std::vector<std::string> arguments(tool_.options.size());
    for (size_t i = 0; i < values_.size(); i++) {
      const ToolOption& option = tool_.options[i];
      if (!values_[i] && !option.otherwise) return wrong(fmt::format("{} is missing: {}", option.value, usage_of(tool_)));
      if (option.argument == 0 || option.argument > arguments.size()) return wrong("its page numbers the options wrongly");
      arguments[option.argument - 1] = in_script(option, values_[i].value_or(option.otherwise.value_or("")));
    }
    return arguments;
  }

 private:
  // A name with colons is quoted for the description that it becomes a part of.
  static std::string in_script(const ToolOption& option, const std::string& value) {
    const bool is_quoted = value.find('"') != std::string::npos;
    return option.value == "FUNCTION" && !is_quoted ? dif::quoted(value) : value;
  }

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
    return option.flag.empty() ? Status() : check_value(tool_, option, *value);
  }

  // Options of dvm run that every tool takes.
  Status pass_on(const std::string& word) {
    const std::vector<std::string_view> all = run_options_of(tool_);
    if (std::find(all.begin(), all.end(), word) == all.end())
      return wrong(fmt::format("there is no option '{}'\n    for more, see dvm tool {} --help", word, tool_.name));
    rest_.push_back(word);
    if (word == "--json" || word == "-v") return {};
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
  if (tool.needs_process) all.insert(all.begin(), {"-p", "-c"});
  return all;
}

std::string tool_page(const Tool& tool) {
  std::string text = fmt::format("{}: {}\n\nUsage: {}\n\n", tool.name, tool.summary, usage_of(tool));
  for (const ToolOption& option : tool.options)
    text += fmt::format("  {:<14}{}{}\n", spelled(option), option.text,
                        !option.otherwise || option.otherwise->empty() || option.value.empty()
                            ? ""
                            : fmt::format(" (default {})", *option.otherwise));
  text += "  -o FILE, -x NAME[=VALUE], --json, -v: as of dvm run\n";
  if (!tool.notes.empty()) text += "\n";
  for (const std::string& line : tool.notes) text += line + "\n";
  return text;
}

Result<std::vector<std::string>> tool_arguments(const Tool& tool, const std::vector<std::string>& words,
                                                std::vector<std::string>& rest) {
  return Arguments(tool, words, rest).run();
}

}  // namespace dvm::cmd
