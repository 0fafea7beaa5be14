#pragma once
// The text of one program and where its lines begin. A Location is a range of byte offsets in it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/compiler/compile.h"

namespace dvm::compiler {

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
  unsigned line(uint32_t offset) const;    // from 1
  unsigned column(uint32_t offset) const;  // from 1
  std::string_view line_text(unsigned line) const;
  dif::SourcePosition position(Location where) const;

 private:
  const Source& source_;
  std::vector<uint32_t> starts_;
};

}  // namespace dvm::compiler
