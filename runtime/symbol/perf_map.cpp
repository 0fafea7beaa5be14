// Reads perf-PID.map. Tested by tests/unit/instrument/user_symbols_test.cpp.

#include "runtime/symbol/perf_map.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostBytes = 64u << 20;

// The number that the process has in its own pid namespace; 0: it is gone.
int64_t own_number(int32_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  constexpr std::string_view kField = "NSpid:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kField)) return std::strtoll(line.c_str() + line.find_last_of(" \t"), nullptr, 10);
  return 0;
}

bool take_number(std::string_view& line, uint64_t& value) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
  return true;
}

}  // namespace

std::vector<GeneratedFunction> parse_perf_map(std::string_view text) {
  std::vector<GeneratedFunction> all;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    GeneratedFunction one;
    if (take_number(line, one.address) && take_number(line, one.size) && !line.empty()) {
      one.name = line;
      all.push_back(std::move(one));
    }
  }
  const auto before = [](const GeneratedFunction& a, const GeneratedFunction& b) { return a.address < b.address; };
  const auto same = [](const GeneratedFunction& a, const GeneratedFunction& b) { return a.address == b.address; };
  std::reverse(all.begin(), all.end());  // the later line comes first, and stays
  std::stable_sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

bool PerfMap::read_file(const std::string& path, bool is_own) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  const int64_t modified = st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec;
  const auto size = static_cast<uint64_t>(st.st_size);
  if (!is_own && modified < since_) return false;
  if (size > kMostBytes || (modified == modified_ && size == size_)) return true;
  std::ifstream file(path, std::ios::binary);
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  modified_ = modified, size_ = size;
  functions_ = parse_perf_map(text);
  return true;
}

void PerfMap::read(int32_t pid) {
  if (since_ == 0) since_ = static_cast<int64_t>(read_clock(CLOCK_REALTIME));
  const int64_t number = own_number(pid);
  if (number != 0) name_ = fmt::format("perf-{}.map", number);
  if (name_.empty()) return;
  if (number == 0 || !read_file(fmt::format("/proc/{}/root/tmp/{}", pid, name_), true)) read_file("/tmp/" + name_, false);
}

const GeneratedFunction* PerfMap::find(uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](uint64_t a, const GeneratedFunction& function) { return a < function.address; });
  if (after == functions_.begin()) return nullptr;
  const GeneratedFunction& function = *std::prev(after);
  return address - function.address < function.size ? &function : nullptr;
}

}  // namespace dvm::runtime
