// Lines are found by binary search in their starts. Tests: tests/unit/compiler/source_test.cpp.
#include "compiler/source/source_file.h"

#include <algorithm>

namespace dvm::compiler {

SourceFile::SourceFile(const Source& source) : source_(source), starts_{0} {
  for (uint32_t i = 0; i < source.text.size(); i++)
    if (source.text[i] == '\n') starts_.push_back(i + 1);
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

dif::SourcePosition SourceFile::position(Location where) const { return {source_.name, line(where.begin), column(where.begin)}; }

}  // namespace dvm::compiler
