// Covered by tests/runtime/scenarios/test_json.py.
#include "runtime/consumer/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/consumer/floating.h"
#include "runtime/consumer/json_value.h"

namespace dvm::runtime {
namespace {

bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

}  // namespace

void append_json(std::string& out, const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t i = 0; i < text.size(); i++) {
    const bool is_upper = text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (is_upper) i++;
    if (is_upper || text[i] == '\x7f')
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(text[i]));
    else
      out += text[i];
  }
}

void append_json_string(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) return append_json(out, Json(text));
  out += '"';
  out += text;
  out += '"';
}

void append_json_datum(std::string& out, const Datum& datum, const MadePrinter& made) {
  if (datum.is_made() || is_floating(*datum.type)) return append_json(out, json_of(datum, made));
  if (datum.is_string()) return append_json_string(out, datum.text());
  if (!datum.is_integer() || datum.bytes.size() > 8) return append_json(out, json_of(datum, made));
  if (datum.type->is_signed)
    fmt::format_to(std::back_inserter(out), "{}", datum.signed_value());
  else
    fmt::format_to(std::back_inserter(out), "{}", datum.unsigned_value());
}

}  // namespace dvm::runtime
