#include "heed/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <sstream>

#include "heed/base/checked.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are mapped, and the format is little-endian");

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::size_t kLengthBytes = 8;

enum class Access { view, widen, none };
struct Format {
  std::string_view name;
  std::uint64_t bits;
  Access access;
  DType dtype = DType::f32;  // what tensor() gives
};
// In the order of the reference implementation, which its writer goes through backwards.
constexpr std::array kFormats = {
    Format{"BOOL", 8, Access::widen, DType::i32},
    Format{"F4", 4, Access::none},
    Format{"F6_E2M3", 6, Access::none},
    Format{"F6_E3M2", 6, Access::none},
    Format{"U8", 8, Access::widen, DType::i32},
    Format{"I8", 8, Access::widen, DType::i32},
    Format{"F8_E5M2", 8, Access::none},
    Format{"F8_E4M3", 8, Access::none},
    Format{"F8_E8M0", 8, Access::none},
    Format{"F8_E4M3FNUZ", 8, Access::none},
    Format{"F8_E5M2FNUZ", 8, Access::none},
    Format{"I16", 16, Access::widen, DType::i32},
    Format{"U16", 16, Access::widen, DType::i32},
    Format{"F16", 16, Access::view, DType::f16},
    Format{"BF16", 16, Access::view, DType::bf16},
    Format{"I32", 32, Access::view, DType::i32},
    Format{"U32", 32, Access::widen, DType::i64},
    Format{"F32", 32, Access::view, DType::f32},
    Format{"C64", 64, Access::none},
    Format{"F64", 64, Access::view, DType::f64},
    Format{"I64", 64, Access::view, DType::i64},
    Format{"U64", 64, Access::widen, DType::i64},
};

const Format* find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &Format::name);
  return found == kFormats.end() ? nullptr : &*found;
}

const Format& format_of(DType dtype) {
  return *std::ranges::find_if(kFormats, [&](const Format& f) { return f.access == Access::view && f.dtype == dtype; });
}

// A name for messages: names come from the file and may be anything of any length.
std::string shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  std::string text = "\"";
  for (char c : name.substr(0, kLongest)) text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text + (name.size() > kLongest ? "...\"" : "\"");
}

// [2,3], as JSON has it; only the beginning of what could not be a Tensor.
std::string printed(std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (std::int64_t size : sizes.first(std::min<std::size_t>(sizes.size(), 2 * kMaxRank))) {
    if (text.size() > 1) text += ',';
    text += std::to_string(size);
  }
  return text + (sizes.size() > 2 * kMaxRank ? ",...]" : "]");
}

// The header's text; throws if it does not lie inside the file.
std::string_view header_text(const MappedFile& file) {
  const std::string where = file.path().string();
  const std::uint64_t size = file.bytes().size();
  HEED_CHECK_AS(bad_format, size >= kLengthBytes, where, ": has ", size,
                " bytes, expected the 8 bytes of the header's length and more");
  std::uint64_t length = 0;
  std::memcpy(&length, file.bytes().data(), kLengthBytes);
  HEED_CHECK_AS(bad_format, length <= kSafetensorsHeaderLimit, where, ": header of ", length,
                " bytes, expected at most ", kSafetensorsHeaderLimit);
  HEED_CHECK_AS(bad_format, length <= size - kLengthBytes, where, ": header of ", length, " bytes, but only ",
                size - kLengthBytes, " bytes follow its length (is the file truncated?)");
  return file.text().substr(kLengthBytes, static_cast<std::size_t>(length));
}

// One entry of the header, its sizes checked against its type.
SafetensorsInfo parse_info(const Json& entry, const std::string& context) {
  SafetensorsInfo info;
  info.dtype = json_required<std::string>(entry, "dtype", context);
  info.shape = json_required<std::vector<std::int64_t>>(entry, "shape", context);
  const auto offsets = json_required<std::vector<std::uint64_t>>(entry, "data_offsets", context);
  for (const auto& [key, value] : entry.items()) {
    HEED_CHECK_AS(bad_format, key == "dtype" || key == "shape" || key == "data_offsets", context, ": unknown field ",
                  shown_name(key), ", expected dtype, shape and data_offsets");
  }
  HEED_CHECK_AS(bad_format, offsets.size() == 2, context, ": data_offsets has ", offsets.size(),
                " numbers, expected begin and end");
  info.begin = offsets[0];
  info.end = offsets[1];
  HEED_CHECK_AS(bad_format, info.begin <= info.end, context, ": data_offsets end at ", info.end, " before they begin, ",
                info.begin);
  const Format* format = find_format(info.dtype);
  HEED_CHECK_AS(bad_format, format, context, ": unknown dtype ", shown_name(info.dtype));
  const auto count = static_cast<std::uint64_t>(checked_product(info.shape, context));
  const std::uint64_t bits = checked_mul(count, format->bits, context);
  HEED_CHECK_AS(bad_format, bits % 8 == 0, context, ": ", info.dtype, printed(info.shape), " has ", bits,
                " bits, expected whole bytes");
  HEED_CHECK_AS(bad_format, bits / 8 == info.end - info.begin, context, ": data_offsets ", info.begin, "..", info.end,
                " are ", info.end - info.begin, " bytes, but ", info.dtype, printed(info.shape), " has ", bits / 8);
  return info;
}

template <class From, class To>
Tensor widened(std::span<const std::byte> bytes, const Shape& shape, const std::string& context) {
  Tensor result = Tensor::empty(shape, kDTypeOf<To>);
  To* to = result.mutable_data<To>();
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    From value;  // copied out: the file need not align it
    std::memcpy(&value, bytes.data() + i * static_cast<std::int64_t>(sizeof(From)), sizeof(From));
    to[i] = checked_cast<To>(value, context);
  }
  return result;
}

Tensor widen(const Format& format, std::span<const std::byte> bytes, const Shape& shape, const std::string& context) {
  if (format.name == "I8") return widened<std::int8_t, std::int32_t>(bytes, shape, context);
  if (format.name == "I16") return widened<std::int16_t, std::int32_t>(bytes, shape, context);
  if (format.name == "U16") return widened<std::uint16_t, std::int32_t>(bytes, shape, context);
  if (format.name == "U32") return widened<std::uint32_t, std::int64_t>(bytes, shape, context);
  if (format.name == "U64") return widened<std::uint64_t, std::int64_t>(bytes, shape, context);
  if (format.name == "BOOL") {
    const auto wrong = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
    HEED_CHECK_AS(bad_format, wrong == bytes.end(), context, ": BOOL element ", wrong - bytes.begin(), " is ",
                  static_cast<int>(*wrong), ", expected 0 or 1");
  }
  return widened<std::uint8_t, std::int32_t>(bytes, shape, context);
}

// JSON of a string that is UTF-8.
std::string json_text(std::string_view text, const std::string& context) {
  HEED_CHECK(!utf8_find_invalid(text), context, ": the name or value ", shown_name(text), " is not UTF-8");
  return Json(text).dump();
}

std::string header_of(std::span<const TensorMap::value_type* const> order,
                      const std::map<std::string, std::string>& metadata, const std::string& where) {
  std::ostringstream header;
  const char* separator = "";
  header << '{';
  if (!metadata.empty()) {
    header << '"' << kMetadataKey << "\":{";
    for (const auto& [key, value] : metadata) {
      header << separator << json_text(key, where) << ':' << json_text(value, where);
      separator = ",";
    }
    header << '}';
  }
  std::int64_t end = 0;
  for (const auto* item : order) {
    const Tensor& tensor = item->second;
    const std::int64_t begin = end;
    end = checked_add(begin, tensor.count() * element_size(tensor.dtype()), where, ErrorKind::invalid_argument);
    header << separator << json_text(item->first, where) << ":{\"dtype\":\"" << format_of(tensor.dtype()).name
           << "\",\"shape\":" << printed(tensor.shape().sizes()) << ",\"data_offsets\":[" << begin << ',' << end
           << "]}";
    separator = ",";
  }
  header << '}';
  std::string text = header.str();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  HEED_CHECK(text.size() <= kSafetensorsHeaderLimit, where, ": the header would have ", text.size(),
             " bytes, expected at most ", kSafetensorsHeaderLimit);
  return text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(std::make_shared<const MappedFile>(path)) {
  const std::string where = path.string();
  const std::string_view header = header_text(*file_);
  data_begin_ = kLengthBytes + header.size();
  const Json json = parse_json(header, where + " (header)");
  HEED_CHECK_AS(bad_format, json.is_object(), where, ": the header is ", detail::json_kind(json),
                ", expected an object");
  for (const auto& [name, entry] : json.items()) {
    if (name != kMetadataKey) {
      infos_.emplace(name, parse_info(entry, where + ": tensor " + shown_name(name)));
      names_.push_back(name);
      continue;
    }
    HEED_CHECK_AS(bad_format, entry.is_object(), where, ": ", kMetadataKey, " is ", detail::json_kind(entry),
                  ", expected an object of strings");
    for (const auto& [key, value] : entry.items()) {
      metadata_.emplace(key, json_as<std::string>(value, shown_name(key), where + ": " + std::string(kMetadataKey)));
    }
  }
  // Equal ranges are empty ones; names settle their order.
  std::ranges::stable_sort(names_, {}, [this](const std::string& name) {
    const SafetensorsInfo& info = infos_.find(name)->second;
    return std::pair(info.begin, info.end);
  });
  check_coverage();
}

void SafetensorsFile::check_coverage() const {
  const std::string where = path().string();
  std::uint64_t covered = 0;
  for (const std::string& name : names_) {
    const SafetensorsInfo& info = infos_.find(name)->second;
    HEED_CHECK_AS(bad_format, info.begin == covered, where, ": tensor ", shown_name(name), " begins at byte ",
                  info.begin, ", expected ", covered, ": the tensors ",
                  info.begin < covered ? "overlap" : "leave a hole");
    covered = info.end;
  }
  const std::uint64_t rest = file_->bytes().size() - data_begin_;
  HEED_CHECK_AS(bad_format, covered == rest, where, ": the tensors cover ", covered, " bytes, but ", rest,
                " follow the header", covered > rest ? " (is the file truncated?)" : "");
}

const SafetensorsInfo& SafetensorsFile::info(std::string_view name) const {
  const auto found = infos_.find(name);
  HEED_CHECK_AS(not_found, found != infos_.end(), path().string(), ": has no tensor ", shown_name(name));
  return found->second;
}

std::span<const std::byte> SafetensorsFile::bytes(std::string_view name) const {
  const SafetensorsInfo& range = info(name);
  return file_->bytes().subspan(data_begin_ + static_cast<std::size_t>(range.begin),
                                static_cast<std::size_t>(range.end - range.begin));
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const SafetensorsInfo& stored = info(name);
  const std::string context = path().string() + ": tensor " + shown_name(name);
  const Format& format = *find_format(stored.dtype);
  HEED_CHECK_AS(bad_format, format.access != Access::none, context, ": dtype ", stored.dtype,
                " is not supported, expected F64, F32, F16, BF16, an integer type or BOOL");
  HEED_CHECK_AS(bad_format, stored.shape.size() <= kMaxRank, context, ": shape ", printed(stored.shape), " has ",
                stored.shape.size(), " axes, expected at most ", kMaxRank);
  const Shape shape(stored.shape);
  const std::span<const std::byte> data = bytes(name);
  if (format.access == Access::widen) return widen(format, data, shape, context);
  const auto alignment = static_cast<std::uintptr_t>(element_size(format.dtype));
  if (reinterpret_cast<std::uintptr_t>(data.data()) % alignment == 0) {
    return Tensor::borrow(data.data(), shape, format.dtype, file_);
  }
  Tensor copy = Tensor::empty(shape, format.dtype);
  std::ranges::copy(data, copy.storage()->mutable_bytes());
  return copy;
}

TensorMap SafetensorsFile::tensors() const {
  TensorMap result;
  for (const std::string& name : names_) result.emplace(name, tensor(name));
  return result;
}

void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::string where = path.string();
  std::vector<const TensorMap::value_type*> order;
  for (const auto& item : tensors) {
    HEED_CHECK(item.second.defined(), where, ": tensor ", shown_name(item.first), " has no value");
    HEED_CHECK(item.first != kMetadataKey, where, ": a tensor cannot be named ", kMetadataKey);
    order.push_back(&item);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const auto* item) { return &format_of(item->second.dtype()); });
  const std::string header = header_of(order, metadata, where);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const auto* item : order) {
    const Tensor tensor = item->second.detached_contiguous();
    const std::int64_t size = element_size(tensor.dtype());
    file.write({tensor.storage()->bytes() + tensor.offset() * size, static_cast<std::size_t>(tensor.count() * size)});
  }
  file.commit();
}

}  // namespace heed
