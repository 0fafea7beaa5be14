// Lines are found by binary search in their starts. Tests: tests/unit/compiler/source_test.cpp.
#include "compiler/source/source_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace dvm::compiler {

namespace {

// Follows comments over the text of one line: is one open at its end? Strings and characters end with their line.
bool open_after(std::string_view line, bool open) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); i++) {
    const std::string_view rest = line.substr(i);
    if (open ? rest.starts_with("*/") : !quote && rest.starts_with("/*")) {
      open = !open, i++;
    } else if (!open && quote && line[i] == '\\') {
      i++;
    } else if (!open && (quote ? line[i] == quote : line[i] == '"' || line[i] == '\'')) {
      quote = quote ? 0 : line[i];
    }
  }
  return open;
}

void skip_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" \t\f\v"), text.size())); }

// "# 12 "file" 1" and "#line 12 "file"": 12, what stands in the quotes, and 1.
struct Marker {
  unsigned line = 0;
  std::optional<std::string> file;
  char flag = 0;
};

std::optional<Marker> parse_marker(std::string_view text) {
  skip_blanks(text);
  if (!text.starts_with('#')) return {};
  text.remove_prefix(1), skip_blanks(text);
  if (text.starts_with("line")) text.remove_prefix(4), skip_blanks(text);
  Marker m;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), m.line);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data())), skip_blanks(text);
  if (text.starts_with('"')) {
    const size_t close = std::min(text.find('"', 1), text.size());
    m.file = text.substr(1, close - 1);
    text.remove_prefix(std::min(close + 1, text.size())), skip_blanks(text);
    if (!text.empty()) m.flag = text[0];
  }
  return m;
}

}  // namespace

SourceFile::SourceFile(const Source& source) : source_(source), starts_{0} {
  bool in_comment = false;
  for (size_t begin = 0; begin < source.text.size();) {
    const size_t end = std::min(source.text.find('\n', begin), source.text.size());
    const std::string_view line = text().substr(begin, end - begin);
    if (!in_comment && line.find('#') != std::string_view::npos) add_mark(static_cast<uint32_t>(begin));
    in_comment = open_after(line, in_comment);
    if (end < source.text.size()) starts_.push_back(static_cast<uint32_t>(end + 1));
    begin = end + 1;
  }
}

// Takes the line that begins there for a marker, if it is one. The lines behind it are those it says.
void SourceFile::add_mark(uint32_t begin) {
  const unsigned at = line(begin);
  const std::optional<Marker> marker = parse_marker(line_text(at));
  if (!marker) return;
  LineOrigin before = place(begin), here;
  here.file = marker->file.value_or(before.file), here.line = marker->line;
  if (here.file == "<stdin>") here.file = source_.name;
  std::vector<LineOrigin> stack = std::exchange(before.included_from, {});
  if (marker->flag == '1') stack.insert(stack.begin(), before);
  if (marker->flag == '2' && !stack.empty()) stack.erase(stack.begin());
  here.included_from = std::move(stack);
  marks_.push_back({at + 1, std::move(here)});
}

LineOrigin SourceFile::place(uint32_t offset) const {
  const unsigned at = line(offset);
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), at, [](unsigned l, const Mark& m) { return l < m.at; });
  if (after == marks_.begin()) return {source_.name, at, {}};
  LineOrigin found = std::prev(after)->place;
  found.line += at - std::prev(after)->at;
  return found;
}

std::string SourceFile::written(const LineOrigin& place, std::string_view line) const {
  if (source_.original.empty() || place.file != source_.name) return "";
  std::string_view rest = source_.original;
  for (unsigned n = 1; n < place.line && !rest.empty(); n++) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  rest = rest.substr(0, rest.find_first_of("\r\n"));
  return rest == line ? "" : std::string(rest);
}

std::string_view SourceFile::text(Location where) const {
  const uint32_t size = static_cast<uint32_t>(source_.text.size());
  const uint32_t begin = std::min(where.begin, size);
  return text().substr(begin, std::min(where.end, size) - begin);
}

unsigned SourceFile::line(uint32_t offset) const {
  return static_cast<unsigned>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin());
}

unsigned SourceFile::column(uint32_t offset) const { return offset - starts_[line(offset) - 1] + 1; }

std::string_view SourceFile::line_text(unsigned line) const {
  if (line == 0 || line > starts_.size()) return {};
  std::string_view rest = text().substr(starts_[line - 1]);
  rest = rest.substr(0, rest.find('\n'));
  return rest.substr(0, rest.find_last_not_of('\r') + 1);
}

dif::SourcePosition SourceFile::position(Location where) const {
  LineOrigin at = place(where.begin);
  return {std::move(at.file), at.line, column(where.begin)};
}

}  // namespace dvm::compiler
