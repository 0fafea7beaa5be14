#pragma once
// The text of one program and where its lines begin. A Location is a range of byte offsets in it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/compiler/compile.h"

namespace dvm::compiler {

// The origin of a line, by the # lines of the C preprocessor and #line.
struct LineOrigin {
  std::string file;
  unsigned line = 1;
  std::vector<LineOrigin> included_from;  // nearest first; those have none themselves
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
  // The line as it was before the preprocessor; empty if it is the same.
  std::string written(const LineOrigin& place, std::string_view line) const;
  dif::SourcePosition position(Location where) const;

 private:
  struct Mark {
    unsigned at = 1;  // first line of this text for which it holds
    LineOrigin place;
  };

  void add_mark(uint32_t begin);

  const Source& source_;
  std::vector<uint32_t> starts_;
  std::vector<Mark> marks_;
};

}  // namespace dvm::compiler
