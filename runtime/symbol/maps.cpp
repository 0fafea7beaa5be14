// Reads /proc/PID/maps. Covered by tests/unit/instrument/maps_test.cpp.

#include "runtime/symbol/maps.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>

#include "runtime/process/thread_status.h"
#include "runtime/symbol/started_as.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kNewline = "\\012";  // in a path, as the kernel writes it
constexpr std::string_view kOfUprobes = "[uprobes]";

// Takes the next blank-separated word off the line.
std::string_view take_word(std::string_view& line) {
  size_t begin = std::min(line.find_first_not_of(' '), line.size());
  size_t end = std::min(line.find(' ', begin), line.size());
  std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

bool parse_number(std::string_view text, int base, uint64_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_device(std::string_view text, uint64_t& device) {
  uint64_t high = 0, low = 0;
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  if (!parse_number(text.substr(0, colon), 16, high) || !parse_number(text.substr(colon + 1), 16, low)) return false;
  device = makedev(static_cast<unsigned>(high), static_cast<unsigned>(low));
  return true;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t at; (at = text.find(kNewline)) != std::string_view::npos; text.remove_prefix(at + kNewline.size())) {
    out.append(text.substr(0, at)).push_back('\n');
  }
  return out.append(text);
}

bool is_same_file(const std::string& path, const MapsLine& line) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && st.st_ino == line.inode && st.st_dev == line.device;
}

bool exists(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

// A name that opens exactly the mapped file: through the process's root if the path still leads to it, else through the mapping,
// else as dvm sees it (the path of a process in another root directory). Users may not open mappings.
std::string open_path_of(const std::string& folder, const MapsLine& line, const std::string& path) {
  std::string through_root = fmt::format("{}/root{}", folder, path);
  if (is_same_file(through_root, line)) return through_root;
  std::string through_mapping = fmt::format("{}/map_files/{}", folder, line.range);
  if (exists(through_mapping)) return through_mapping;
  return is_same_file(path, line) ? path : through_root;
}

// A name with the four characters \012 looks like one with a newline. The file tells which one it is.
std::string path_of(const std::string& folder, const MapsLine& line) {
  std::string literal;
  for (const char one : line.path) one == '\n' ? void(literal += kNewline) : literal.push_back(one);
  if (literal == line.path || is_same_file(fmt::format("{}/root{}", folder, line.path), line)) return line.path;
  return is_same_file(fmt::format("{}/root{}", folder, literal), line) ? literal : line.path;
}

struct FileId {
  uint64_t device = 0, inode = 0;
  std::string path;
  friend bool operator==(const FileId&, const FileId&) = default;
};

class ObjectList {
 public:
  explicit ObjectList(int32_t pid) : pid_(pid), folder_(memory_folder(pid)), program_(read_link(program_path())) {}

  void add(const MapsLine& line) {
    if (!line.executable || line.path.empty() || line.path[0] != '/' || line.inode == 0) return;
    const std::string path = path_of(folder_, line);
    FileId id{line.device, line.inode, path};
    if (std::find(seen_.begin(), seen_.end(), id) != seen_.end()) return;
    seen_.push_back(id);
    MappedObject object;
    object.is_program = path == program_;
    object.path = path.ends_with(kDeleted) ? path.substr(0, path.size() - kDeleted.size()) : path;
    object.name = object.path.substr(object.path.rfind('/') + 1);
    if (object.is_program) take_name_of_link(object);
    object.open_path = object.is_program ? program_path() : open_path_of(folder_, line, object.path);
    object.offset = line.offset;
    AddressRange range;
    if (line.addresses(range)) object.address = range.begin;
    objects_.push_back(std::move(object));
  }

  std::vector<MappedObject> take() { return std::move(objects_); }

 private:
  std::string program_path() const { return folder_ + "/exe"; }

  // If the user started a link, he knows the program by the link's name, like redis-server, a link to redis-check-rdb. But
  // python3 means python3.11 anyway.
  void take_name_of_link(MappedObject& object) const {
    const std::string name = started_as(pid_);
    if (!name.empty() && !object.name.starts_with(name)) object.name = name;
  }

  static std::string read_link(const std::string& path) {
    std::string target(PATH_MAX, '\0');
    ssize_t size = readlink(path.c_str(), target.data(), target.size());
    target.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return target;
  }

  int32_t pid_;
  std::string folder_;   // of the process in /proc
  std::string program_;  // as maps shows it, with " (deleted)"
  std::vector<FileId> seen_;
  std::vector<MappedObject> objects_;
};

}  // namespace

bool parse_maps_line(std::string_view line, MapsLine& out) {
  out = MapsLine{};
  out.range = take_word(line);
  std::string_view access = take_word(line);
  std::string_view offset = take_word(line);
  std::string_view device = take_word(line), inode = take_word(line);
  if (out.range.find('-') == std::string::npos || access.size() != 4) return false;
  if (!parse_number(offset, 16, out.offset) || !parse_device(device, out.device) || !parse_number(inode, 10, out.inode))
    return false;
  out.executable = access[2] == 'x';
  out.is_constant = access.starts_with("r-");
  out.is_shared = access[3] == 's';
  size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) out.path = unescape(line.substr(path));
  return true;
}

bool MapsLine::addresses(AddressRange& out) const {
  const std::string_view text = range;
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && parse_number(text.substr(0, dash), 16, out.begin) &&
         parse_number(text.substr(dash + 1), 16, out.end);
}

const MappedObject* object_at(const std::vector<MappedObject>& objects, uint64_t address) {
  const auto after = std::upper_bound(objects.begin(), objects.end(), address,
                                      [](uint64_t a, const MappedObject& object) { return a < object.address; });
  return after == objects.begin() ? nullptr : &*std::prev(after);
}

MappedObject unmapped_program(const std::string& path) {
  MappedObject object;
  object.path = object.open_path = path;
  object.name = path.substr(path.rfind('/') + 1);
  object.is_program = true;
  return object;
}

bool has_address(const std::vector<AddressRange>& ranges, uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](uint64_t a, const AddressRange& range) { return a < range.begin; });
  return after != ranges.begin() && address < std::prev(after)->end;
}

Result<MappedCode> mapped_code(int32_t pid) {
  std::ifstream maps(memory_folder(pid) + "/maps");
  if (!maps) return Error{std::strerror(errno == ENOENT ? ESRCH : errno)};
  ObjectList objects(pid);
  MappedCode code;
  MapsLine parsed;
  for (std::string line; std::getline(maps, line);) {
    if (!parse_maps_line(line, parsed)) continue;
    objects.add(parsed);
    AddressRange range;
    if (parsed.executable && parsed.path != kOfUprobes && parsed.addresses(range)) code.ranges.push_back(range);
  }
  code.objects = objects.take();
  return code;
}

Result<std::vector<MappedObject>> mapped_objects(int32_t pid) {
  auto code = mapped_code(pid);
  if (!code) return code.error();
  return std::move(code->objects);
}

}  // namespace dvm::runtime
