#pragma once
// A token of D, for ANTLR's parser. It is smaller and faster than ANTLR's own class, which also stores the text, line and source.

#include <antlr4-runtime.h>

#include <string>
#include <string_view>

#include "compiler/source/source_file.h"

namespace dvm::compiler {

class Token final : public antlr4::Token {
 public:
  Token(size_t type, uint32_t begin, std::string_view text)
      : type_(type), begin_(begin), length_(static_cast<uint32_t>(text.size())), text_(text) {}

  size_t type() const { return type_; }
  void set_type(size_t type) { type_ = type; }
  size_t index() const { return index_; }  // among the tokens of its file
  void set_index(size_t index) { index_ = static_cast<uint32_t>(index); }
  std::string_view text() const { return text_; }
  // Makes it stand for another text, which outlives the token. Its place remains.
  void replace(size_t type, std::string_view text) { type_ = type, text_ = text; }
  Location where() const { return {begin_, begin_ + length_}; }

  size_t getType() const override { return type_; }
  std::string getText() const override { return std::string(text_); }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return DEFAULT_CHANNEL; }
  size_t getTokenIndex() const override { return index_; }
  size_t getStartIndex() const override { return begin_; }
  size_t getStopIndex() const override { return begin_ + length_ - 1; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return getText(); }

 private:
  size_t type_;
  uint32_t begin_;
  uint32_t length_;
  uint32_t index_ = 0;
  std::string_view text_;
};

// ANTLR hands back the tokens that it was given, so the cast is valid.
inline const Token& ours(const antlr4::Token& token) { return static_cast<const Token&>(token); }

}  // namespace dvm::compiler
