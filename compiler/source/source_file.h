#pragma once
// The text of one program and the offsets of its lines. A Location is a range of byte offsets in the text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/compiler/compile.h"

namespace dvm::compiler {

// The origin of a line, from the # lines of the C preprocessor and from #line.
struct LineOrigin {
  std::string file;
  unsigned line = 1;
  std::vector<LineOrigin> included_from;  // nearest first; empty in these themselves
};

struct Location {
  uint32_t begin = 0;
  uint32_t end = 0;  // one past
};

class SourceFile {
 public:
  explicit SourceFile(const Source& source);

  const Source& source() const { return source_; }
  std::string_view text() const { return source_.text; }
  std::string_view text(Location where) const;
  unsigned line(uint32_t offset) const;    // of this text, from 1
  unsigned column(uint32_t offset) const;  // from 1
  std::string_view line_text(unsigned line) const;
  LineOrigin place(uint32_t offset) const;
  // The line before preprocessing; empty if it is the same.
  std::string written(const LineOrigin& place, std::string_view line) const;
  dif::SourcePosition position(Location where) const;

 private:
  struct Mark {
    unsigned at = 1;  // first line of this text to which it applies
    LineOrigin place;
  };

  void add_mark(uint32_t begin);

  const Source& source_;
  std::vector<uint32_t> starts_;
  std::vector<Mark> marks_;
};

}  // namespace dvm::compiler
