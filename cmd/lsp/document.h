#pragma once
// A D script in an editor: its text, positions as the protocol counts them, and what stands at the cursor.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dvm::cmd::lsp {

struct TextPosition {
  size_t line = 0, character = 0;  // from 0; characters are UTF-16 units, or bytes if the client takes those
};

class Document {
 public:
  Document(std::string text, bool in_bytes) : text_(std::move(text)), in_bytes_(in_bytes) { find_lines(); }

  const std::string& text() const { return text_; }
  // Puts a text in the place of the bytes from begin to end; an end before the begin is taken for it.
  void replace(size_t begin, size_t end, std::string_view text) {
    text_.replace(begin, end > begin ? end - begin : 0, text);
    find_lines();
  }
  // A position behind the end of its line, or of the text, is that end.
  size_t offset_of(TextPosition position) const;
  TextPosition position_of(size_t offset) const;
  // The offset of a place as in a diagnostic: a line and a column, both from 1; the column counts bytes.
  size_t offset_of_column(unsigned line, unsigned column) const;
  size_t end_of_line(unsigned line) const;

 private:
  void find_lines();
  size_t begin_of_line(size_t line) const;  // from 0
  bool is_line_end(size_t at) const;        // of the text, too

  std::string text_;
  std::vector<size_t> lines_;  // where they begin
  bool in_bytes_;
};

// What is being written at an offset.
enum class CursorContext {
  nothing,      // a comment or a string
  description,  // of a probe
  pragma,       // an option behind "#pragma D option"
  member,       // a name behind -> or .
  word          // in a predicate or a clause
};

// The kind of name that may stand there.
enum class Expected {
  value,  // no type
  value_or_type,
  tag  // a name behind struct, union or enum
};

struct Cursor {
  CursorContext context = CursorContext::nothing;
  Expected expected = Expected::value;
  std::string_view keyword;  // of a tag

  // Offsets in the text.
  size_t begin = 0;   // the description or word that ends at the cursor
  size_t clause = 0;  // the first description of the clause
  size_t body = 0;    // after the { of the clause; 0: the cursor is before it
  size_t statement = 0;
  std::string_view owner;  // context member: the expression with its arrow or dot
};

Cursor look_at(std::string_view text, size_t offset);
// At ascending offsets, each the end of a word. Reads the text once.
std::vector<Cursor> look_at_all(std::string_view text, const std::vector<size_t>& offsets);

// The whole word around an offset, with the $ or @, self-> or this-> before it; empty: there is none.
std::string_view word_at(std::string_view text, size_t offset);
// The whole probe description around an offset, of which look_at() found the begin.
std::string_view description_at(std::string_view text, size_t begin);
// The words of a text that are in no comment and no quotes, as word_at() has them.
std::vector<std::string_view> code_words(std::string_view text);
// True if the text behind a word assigns to the word.
bool is_assigned(std::string_view behind);
// self->x, this->x, @x and assigned variables, as they are spelled in a text of any kind; each once.
std::vector<std::string> own_names(std::string_view text);

}  // namespace dvm::cmd::lsp
