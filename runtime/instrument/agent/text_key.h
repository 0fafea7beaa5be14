#pragma once
// String keys of clauses that run in the traced thread: the part that the thread must compute, and the part that is known
// beforehand.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"
#include "runtime/catalog/probe.h"

namespace dvm::runtime {

// The words of a string in a key of an aggregation: at most `most` characters, the NUL, and zeros.
std::vector<uint64_t> key_words_of(std::string_view text, size_t most);

struct TextKey {
  enum class Kind : uint8_t { constant, name_of_thread, copied, variable };
  Kind kind = Kind::constant;
  std::vector<uint64_t> words{};  // of a constant
  uint32_t most = 0;              // characters, of the others
  dif::Difo address{};            // computes the address of the string to copy
  uint32_t number = 0;            // of a thread-local variable
};

// The thread keeps the string of this variable.
bool is_thread_text(const dif::Variable& variable);

// `self->text = value`, and nothing else.
struct AssignedText {
  dif::Variable variable{};
  TextKey value{};
};
// Nothing: it is none, or the thread cannot compute or keep the string.
std::optional<AssignedText> assigned_text(const dif::Difo& difo, const Probe* probe, uint32_t strsize);

// strsize: the most bytes of a string, with its NUL. Nothing: the thread cannot compute the key.
std::optional<TextKey> text_key_of(const dif::Difo& difo, const Probe* probe, uint32_t strsize);
// Likewise, of a DIFO that may also store the string in a variable.
std::optional<TextKey> evaluated_text(const dif::Difo& difo, const Probe* probe, uint32_t strsize);

}  // namespace dvm::runtime
