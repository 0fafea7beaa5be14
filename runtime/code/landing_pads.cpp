// Covered by tests/unit/code/landing_pads_test.cpp.

#include "runtime/code/landing_pads.h"

#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace dvm::runtime {
namespace {

constexpr size_t kMostCallSites = size_t{1} << 22, kMostDescribed = size_t{1} << 22;

// Pointer encodings (DW_EH_PE_*).
constexpr unsigned char kOmitted = 0xff, kIndirect = 0x80, kPcRelative = 0x10, kApplication = 0x70;

// Reads on from an address. Behind the end everything is 0, and is_good() is false.
class PadReader {
 public:
  PadReader(CodeBytes bytes, uint64_t address) : bytes_(bytes), address_(address) {}

  bool is_good() const { return is_good_; }
  uint64_t address() const { return address_ + offset_; }
  bool is_before(uint64_t address) const { return is_good_ && this->address() < address; }
  void skip(uint64_t bytes) {
    is_good_ = is_good_ && bytes <= bytes_.size() - offset_;
    if (is_good_) offset_ += bytes;
  }

  template <class T>
  T get() {
    T value{};
    const size_t from = offset_;
    skip(sizeof value);
    if (is_good_) std::memcpy(&value, bytes_.data() + from, sizeof value);
    return value;
  }
  // LEB128. Signed values are only skipped.
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<unsigned char>();
      value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    is_good_ = false;
    return 0;
  }
  // Nothing: none, or one of a form that is not known. An indirect one is the address of a pointer.
  std::optional<uint64_t> pointer(unsigned char encoding) {
    if (encoding == kOmitted) return std::nullopt;
    const uint64_t from = address();
    const auto value = plain(encoding & 0x0f);
    const unsigned relation = encoding & kApplication;
    if (!value || !is_good_ || *value == 0 || (relation != 0 && relation != kPcRelative)) return std::nullopt;
    return *value + (relation == kPcRelative ? from : 0);
  }

 private:
  std::optional<uint64_t> plain(unsigned char form) {
    switch (form) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return get<uint64_t>();
      case 0x01:
        return number();
      case 0x02:
        return get<uint16_t>();
      case 0x03:
        return get<uint32_t>();
      case 0x0a:
        return static_cast<uint64_t>(int64_t{get<int16_t>()});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{get<int32_t>()});
      default:
        is_good_ = false;
        return std::nullopt;
    }
  }

  CodeBytes bytes_;
  uint64_t address_;
  size_t offset_ = 0;
  bool is_good_ = true;
};

// What descriptions of functions have in common.
struct CommonDescription {
  unsigned char code = 0, calls = kOmitted;  // encodings
  bool is_sized = false;                     // has a size of such data
  bool is_known = false;
};

class PadFinder {
 public:
  explicit PadFinder(const std::function<CodeBytes(uint64_t)>& at) : at_(at) {}

  LandingPads find(uint64_t index) {
    constexpr unsigned char kUnsigned4 = 0x03, kTable = 0x3b, kRelative4 = 0x1b;
    PadReader header = reader(index);
    const auto version = header.get<unsigned char>(), frames = header.get<unsigned char>();
    const auto count = header.get<unsigned char>(), table = header.get<unsigned char>();
    header.skip(sizeof(int32_t));
    const bool is_usual = version == 1 && frames == kRelative4 && count == kUnsigned4 && table == kTable;
    const auto functions = header.get<uint32_t>();
    found_.is_complete = is_usual && header.is_good() && functions <= kMostDescribed;
    for (uint32_t i = 0; i < functions && found_.is_complete; i++) {
      header.skip(sizeof(int32_t));
      const auto description = header.get<int32_t>();
      if (header.is_good()) read_description(index + static_cast<uint64_t>(int64_t{description}));
    }
    return std::move(found_);
  }

 private:
  PadReader reader(uint64_t address) const { return {at_(address), address}; }

  void read_description(uint64_t address) {
    PadReader reading = reader(address);
    (void)reading.get<uint32_t>();  // its length
    const uint64_t from = reading.address();
    const CommonDescription& common = common_at(from - reading.get<uint32_t>());
    if (!reading.is_good()) return;
    found_.is_complete = found_.is_complete && common.is_known;
    if (!common.is_known || !common.is_sized || common.calls == kOmitted) return;
    const auto function = reading.pointer(common.code);
    (void)reading.pointer(common.code & 0x0f);  // its size
    (void)reading.number();
    const auto calls = reading.pointer(common.calls);
    if (!calls) return;
    if (function && (common.calls & kIndirect) == 0) return read_calls(*calls, *function);
    found_.is_complete = false;
  }

  const CommonDescription& common_at(uint64_t address) {
    const auto [known, is_new] = commons_.try_emplace(address);
    if (is_new) known->second = read_common(address);
    return known->second;
  }

  CommonDescription read_common(uint64_t address) const {
    constexpr size_t kMostLetters = 8;
    CommonDescription common;
    PadReader reading = reader(address);
    reading.skip(sizeof(uint32_t));
    const auto id = reading.get<uint32_t>();
    const auto version = reading.get<unsigned char>();
    std::string letters;
    for (char one = 0; letters.size() < kMostLetters && (one = reading.get<char>()) != 0;) letters += one;
    (void)reading.number(), (void)reading.number();  // alignment of code and data
    version == 1 ? reading.skip(1) : (void)reading.number();
    common.is_sized = letters.starts_with('z');
    common.is_known = reading.is_good() && id == 0 && (letters.empty() || common.is_sized);
    if (common.is_sized) (void)reading.number();
    for (const char letter : letters) read_letter(letter, reading, common);
    common.is_known = common.is_known && reading.is_good();
    return common;
  }
  static void read_letter(char letter, PadReader& reading, CommonDescription& common) {
    if (letter == 'R') common.code = reading.get<unsigned char>();
    if (letter == 'L') common.calls = reading.get<unsigned char>();
    if (letter == 'P') (void)reading.pointer(reading.get<unsigned char>() & ~kIndirect);
  }

  void read_calls(uint64_t address, uint64_t function) {
    PadReader reading = reader(address);
    const auto begins = reading.get<unsigned char>();
    const uint64_t begin = reading.pointer(begins).value_or(function);
    const auto types = reading.get<unsigned char>();
    if (types != kOmitted) (void)reading.number();
    const auto form = reading.get<unsigned char>();
    const uint64_t size = reading.number(), end = reading.address() + size;
    while (reading.is_before(end)) {
      if (++calls_ > kMostCallSites) found_.is_complete = false;
      if (!found_.is_complete) return;
      (void)reading.pointer(form), (void)reading.pointer(form);  // the call
      const auto pad = reading.pointer(form);
      (void)reading.number();  // what it catches
      if (pad && reading.is_good()) found_.addresses.push_back(begin + *pad);
    }
    found_.is_complete = found_.is_complete && reading.is_good();
  }

  const std::function<CodeBytes(uint64_t)>& at_;
  std::map<uint64_t, CommonDescription> commons_;
  size_t calls_ = 0;
  LandingPads found_;
};

}  // namespace

LandingPads find_landing_pads(uint64_t index, const std::function<CodeBytes(uint64_t address)>& at) {
  return index == 0 ? LandingPads() : PadFinder(at).find(index);
}

}  // namespace dvm::runtime
