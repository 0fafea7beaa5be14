// Reading .dift files.

#include "tests/conformance/dift.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "dvm/dif/register.h"

namespace dvm::vm::test {

namespace {

uint64_t number(const std::string& text) {
  size_t end = 0;
  const uint64_t value = text.starts_with('-') ? static_cast<uint64_t>(std::stoll(text, &end, 0)) : std::stoull(text, &end, 0);
  if (end != text.size()) throw std::runtime_error("bad number " + text);
  return value;
}

std::string hex_bytes(const std::string& text) {
  std::istringstream in(text);
  std::string word, out;
  while (in >> word) out += static_cast<char>(std::stoul(word, nullptr, 16));
  return out;
}

// "text" with \0 \n \t \" \\ and \xNN.
std::string quoted(const std::string& text) {
  const size_t begin = text.find('"'), end = text.rfind('"');
  if (begin == std::string::npos || begin == end) throw std::runtime_error("no string in " + text);
  std::string out;
  for (size_t at = begin + 1; at < end; at++) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    if (c == 'x') {
      out += static_cast<char>(std::stoul(text.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      out += c == '0' ? '\0' : c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

template <class Set>
void pairs(const std::string& text, Set set) {
  std::istringstream in(text);
  std::string word;
  while (in >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error("no = in " + word);
    set(word.substr(0, equals), number(word.substr(equals + 1)));
  }
}

MemoryPiece piece(const std::string& text, bool is_string) {
  const size_t space = text.find(' ');
  return {number(text.substr(0, space)), quoted(text.substr(space)), is_string};
}

void set_field(Case& c, const std::string& key, const std::string& text) {
  if (key == "state")
    pairs(text, [&](const std::string& k, uint64_t v) { c.state[k] = v; });
  else if (key == "counts")
    pairs(text, [&](const std::string& k, uint64_t v) { c.counts[k] = v; });
  else if (key == "regs")
    pairs(text, [&](const std::string& k, uint64_t v) { c.registers[dif::saved_register(number(k)).value()] = v; });
  else if (key == "stack") {
    std::istringstream in(text);
    for (std::string word; in >> word;) c.stack.push_back(number(word));
  } else if (key == "names") {
    std::istringstream in(text);
    for (std::string word; in >> word;) c.names.push_back(word);
  } else if (key == "paths") {
    std::istringstream in(text);
    for (std::string word; in >> word;) c.paths.push_back(word);
  } else if (key == "memory")
    c.captured.push_back(piece(text, false));
  else if (key == "string")
    c.captured.push_back(piece(text, true));
  else if (key == "host")
    c.host.push_back(piece(text, false));
  else if (key == "value")
    c.value = number(text);
  else if (key == "text")
    c.text = quoted(text);
  else if (key == "bytes")
    c.bytes = hex_bytes(text);
  else if (key == "fault")
    c.fault = text;
  else if (key == "rejected")
    c.rejected = text;
  else if (key != "dif")
    throw std::runtime_error("unknown field " + key);
}

void check(const Case& c) {
  const int ends = c.value.has_value() + c.text.has_value() + c.bytes.has_value() + !c.fault.empty() + !c.rejected.empty();
  if (ends != 1 || c.dif.empty()) throw std::runtime_error("case " + c.name + " needs dif: and one expected end");
}

void read_line(Dift& file, const std::string& line) {
  if (line.empty() || line[0] == '#') return;
  if (line.starts_with("=== ")) {
    file.cases.push_back({});
    file.cases.back().name = line.substr(4);
    return;
  }
  if (file.cases.empty()) throw std::runtime_error("text before the first ===");
  Case& c = file.cases.back();
  if (line[0] == ' ' || line[0] == '\t') {
    c.dif += line + '\n';
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string::npos) throw std::runtime_error("no field in " + line);
  const size_t begin = line.find_first_not_of(' ', colon + 1);
  set_field(c, line.substr(0, colon), begin == std::string::npos ? "" : line.substr(begin));
}

Dift read_dift(const std::filesystem::path& path) {
  Dift file;
  std::ifstream in(path);
  try {
    for (std::string line; std::getline(in, line);) read_line(file, line);
    for (const Case& c : file.cases) check(c);
    if (file.cases.empty()) file.error = "no cases";
  } catch (const std::exception& error) {
    file.error = error.what();
  }
  return file;
}

}  // namespace

std::vector<Dift> read_all_dift() {
  const std::filesystem::path root = std::filesystem::path(DVM_SOURCE_DIR) / "tests/conformance";
  std::vector<Dift> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".dift") continue;
    files.push_back(read_dift(entry.path()));
    files.back().path = std::filesystem::relative(entry.path(), root).string();
  }
  std::sort(files.begin(), files.end(), [](const Dift& a, const Dift& b) { return a.path < b.path; });
  return files;
}

}  // namespace dvm::vm::test
