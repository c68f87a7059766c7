#include "heed/io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "support/error_of.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempFolder;

// A file from its header and data, with the length that the header has.
std::string file_text(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + data;
}

// Opens the file and reads every tensor in it: the whole door.
TensorMap read_all(const fs::path& path) {
  return SafetensorsFile(path).tensors();
}

TensorMap tensors_of_every_type() {
  TensorMap tensors;
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::f16, DType::bf16}) {
    Tensor values = Tensor::empty({3, 5}, DType::f32);
    for (int i = 0; i < 15; ++i) values.mutable_data<float>()[i] = static_cast<float>(i) * 1.25f - 7;
    const std::string name(to_string(dtype));
    tensors[name + ".matrix"] = values.detached_to(dtype);
    tensors[name + ".odd"] = values.detached_to(dtype).detached_reshape({15}).detached_slice(0, 0, 3).detached_clone();
    tensors[name + ".scalar"] = Tensor::full({}, -2, dtype);
    tensors[name + ".empty"] = Tensor::zeros({4, 0, 2}, dtype);
    tensors[name + ".transposed"] = values.detached_to(dtype).detached_transpose(0, 1);
  }
  return tensors;
}

void expect_same(const TensorMap& actual, const TensorMap& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_TRUE(same_bits(actual.find(name)->second, tensor)) << name;
  }
}

struct Vector {
  std::string file, expected;
};
std::vector<Vector> published_vectors(const fs::path& folder) {
  std::vector<Vector> vectors;
  std::ifstream table(folder / "expected.tsv");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    vectors.push_back({line.substr(0, first), line.substr(second + 1)});
  }
  return vectors;
}

TEST(Safetensors, PublishedVectors) {
  const fs::path folder = test::shared_data("suites/safetensors/vectors");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int good = 0, bad = 0, either = 0;
  for (const auto& [file, expected] : published_vectors(folder)) {
    SCOPED_TRACE(file + ": " + expected);
    const bool must_pass = expected.starts_with("OK");
    const bool must_fail = expected.starts_with("ERR") && expected.find(" or ") == std::string::npos;
    ++(must_pass ? good : must_fail ? bad : either);
    try {
      read_all(folder / file);
      EXPECT_FALSE(must_fail) << "was accepted";
    } catch (const Error& error) {
      EXPECT_FALSE(must_pass) << error.what();
      EXPECT_EQ(to_string(error.kind()), "bad_format") << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with((folder / file).string())) << error.what();
    }
  }
  EXPECT_EQ(good, 14);
  EXPECT_EQ(good + bad + either, 209);
  EXPECT_LE(either, 3);
}

TEST(Safetensors, RoundTripOfEveryType) {
  TempFolder folder;
  const fs::path path = folder.path() / "x.safetensors";
  const TensorMap tensors = tensors_of_every_type();
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"note", "quote \" and \xC3\xA9 and \n"}};
  save_safetensors(path, tensors, metadata);
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.names().size(), tensors.size());
  expect_same(file.tensors(), tensors);
  EXPECT_EQ(file.info("bf16.odd").dtype, "BF16");
  EXPECT_EQ(file.info("bf16.odd").shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(file.bytes("f64.scalar").size(), 8u);
  for (const std::string& name : file.names()) {
    const Tensor tensor = file.tensor(name);
    // Written aligned, so nothing is copied.
    EXPECT_TRUE(tensor.storage()->read_only()) << name;
    EXPECT_EQ(static_cast<const void*>(tensor.storage()->bytes()), file.bytes(name).data()) << name;
  }
}

TEST(Safetensors, BytesFollowFromTheArgumentsAlone) {
  TempFolder folder;
  const TensorMap tensors = {{"a", Tensor::from<float>({1, 2}, {2})},
                             {"b", Tensor::from<std::int64_t>({-1}, {1})},
                             {"c", Tensor::full({2}, 1, DType::f16)},
                             {"d", Tensor::from<std::int32_t>({7}, {})}};
  save_safetensors(folder.path() / "x", tensors);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"d":{"dtype":"I32","shape":[],"data_offsets":[16,20]},)"
      R"("c":{"dtype":"F16","shape":[2],"data_offsets":[20,24]}})";
  const std::string data("\xff\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f\0\0\0\x40\7\0\0\0\0\x3c\0\x3c", 24);
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(read_file(folder.path() / "x", 1000), file_text(header + padding, data));
}

TEST(Safetensors, NothingAtAllIsAFile) {
  TempFolder folder;
  save_safetensors(folder.path() / "x", {}, {});
  EXPECT_EQ(read_file(folder.path() / "x", 100), file_text("{}      "));
  EXPECT_TRUE(SafetensorsFile(folder.path() / "x").names().empty());
  error_of(ErrorKind::bad_format, [&] { read_all(folder.write("empty", "")); });
  error_of(ErrorKind::not_found, [&] { read_all(folder.path() / "absent"); });
}

TEST(Safetensors, NamesFollowTheBytesAndTensorsOutliveTheFile) {
  TempFolder folder;
  const auto path = folder.write("x", file_text(R"({"z":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                                R"("b":{"dtype":"F32","shape":[0],"data_offsets":[2,2]},)"
                                                R"("a":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                                                std::string("\1\2\0\0\x80\x3f", 6)));
  Tensor tensor;
  {
    const SafetensorsFile file(path);
    EXPECT_EQ(file.names(), (std::vector<std::string>{"z", "b", "a"}));
    EXPECT_TRUE(file.contains("a"));
    EXPECT_FALSE(file.contains("c"));
    EXPECT_EQ(error_of(ErrorKind::not_found, [&] { file.tensor("c"); }), path.string() + ": has no tensor \"c\"");
    tensor = file.tensor("a");
  }
  replace_file(path, "something else");
  EXPECT_EQ(tensor.item(), 1);
}

TEST(Safetensors, MisalignedBytesAreCopied) {
  TempFolder folder;
  for (int pad = 0; pad < 8; ++pad) {
    const std::string header = R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})" + std::string(pad, ' ');
    const SafetensorsFile file(folder.write("x", file_text(header, std::string("\0\0\0\0\0\0\xf8\x3f", 8))));
    const Tensor tensor = file.tensor("a");
    EXPECT_EQ(tensor.item(), 1.5);
    EXPECT_EQ(tensor.storage()->read_only(), (8 + header.size()) % 8 == 0);
  }
}

TEST(Safetensors, OtherIntegersAreWidened) {
  TempFolder folder;
  struct Case {
    std::string dtype, bytes;
    DType result;
    std::vector<double> values;
  };
  const std::vector<Case> cases = {
      {"BOOL", std::string("\0\1", 2), DType::i32, {0, 1}},
      {"U8", "\xff\1", DType::i32, {255, 1}},
      {"I8", "\xff\1", DType::i32, {-1, 1}},
      {"U16", "\xff\xff\1\2", DType::i32, {65535, 513}},
      {"I16", "\xff\xff\1\2", DType::i32, {-1, 513}},
      {"U32", std::string("\xff\xff\xff\xff\1\0\0\0", 8), DType::i64, {4294967295.0, 1}},
      {"U64", std::string("\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 16), DType::i64, {1, 4294967296.0}}};
  for (const Case& c : cases) {
    const std::string header =
        R"({"a":{"dtype":")" + c.dtype + R"(","shape":[2],"data_offsets":[0,)" + std::to_string(c.bytes.size()) + "]}}";
    const SafetensorsFile file(folder.write("x", file_text(header, c.bytes)));
    EXPECT_EQ(file.info("a").dtype, c.dtype);
    EXPECT_EQ(file.tensor("a").dtype(), c.result) << c.dtype;
    EXPECT_EQ(file.tensor("a").detached_to(DType::f64).to_vector<double>(), c.values) << c.dtype;
  }
  const auto one = [](const std::string& dtype, const std::string& bytes) {
    return file_text(
        R"({"a":{"dtype":")" + dtype + R"(","shape":[1],"data_offsets":[0,)" + std::to_string(bytes.size()) + "]}}",
        bytes);
  };
  const auto path = folder.write("bool", one("BOOL", "\2"));
  EXPECT_EQ(error_of(ErrorKind::bad_format, [&] { read_all(path); }),
            path.string() + ": tensor \"a\": BOOL element 0 is 2, expected 0 or 1");
  error_of(ErrorKind::bad_format, [&] { read_all(folder.write("u64", one("U64", std::string(8, '\xff')))); });
}

TEST(Safetensors, TypesWithoutATensorAreListedButNotRead) {
  TempFolder folder;
  const auto path = folder.write("x", file_text(R"({"half":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},)"
                                                R"("four":{"dtype":"F4","shape":[2,4],"data_offsets":[4,8]},)"
                                                R"("deep":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,4],)"
                                                R"("data_offsets":[8,12]},)"
                                                R"("plain":{"dtype":"F32","shape":[],"data_offsets":[12,16]}})",
                                                std::string("abcdefghijkl\0\0\x80\x3f", 16)));
  const SafetensorsFile file(path);
  EXPECT_EQ(file.tensor("plain").item(), 1);
  EXPECT_EQ(file.info("half").dtype, "F8_E4M3");
  EXPECT_EQ(static_cast<char>(file.bytes("four")[0]), 'e');
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { file.tensor("half"); }).find("dtype F8_E4M3 is not supported"),
            std::string::npos);
  error_of(ErrorKind::bad_format, [&] { file.tensor("four"); });
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { file.tensor("deep"); }).find("9 axes, expected at most 8"),
            std::string::npos);
}

TEST(Safetensors, FaultsAreNamed) {
  TempFolder folder;
  struct Case {
    std::string text, message;
  };
  const std::string four(4, '\0');
  const auto entry = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const std::vector<Case> cases = {
      {"1234", ": has 4 bytes, expected the 8 bytes of the header's length and more"},
      {std::string("\1\0\0\0\0\0\0\1", 8), ": header of 72057594037927937 bytes, expected at most 100000000"},
      {std::string("\3\0\0\0\0\0\0\0{}", 10),
       ": header of 3 bytes, but only 2 bytes follow its length (is the file truncated?)"},
      {file_text("[]"), ": the header is a list, expected an object"},
      {file_text("{"), " (header):1:1: "},
      {file_text(R"({"a":1})"), ": tensor \"a\": is the number 1, expected an object with dtype"},
      {file_text(R"({"__metadata__":1})"), ": __metadata__ is the number 1, expected an object of strings"},
      {file_text(R"({"__metadata__":{"k":[]}})"), ": __metadata__: \"k\" is a list, expected a string"},
      {file_text(entry(R"("dtype":"F32","shape":[],"data_offsets":[0,4],"more":1)"), four),
       ": tensor \"a\": unknown field \"more\", expected dtype, shape and data_offsets"},
      {file_text(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), four),
       ": tensor \"a\": data_offsets 0..4 are 4 bytes, but F32[2] has 8"},
      {file_text(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), four + four),
       ": tensor \"a\" begins at byte 4, expected 0: the tensors leave a hole"},
      {file_text(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), four + "x"),
       ": the tensors cover 4 bytes, but 5 follow the header"},
      {file_text(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "xyz"),
       ": the tensors cover 4 bytes, but 3 follow the header (is the file truncated?)"},
      {file_text(entry(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])"), four),
       ": tensor \"a\": unknown dtype \"F33\""}};
  for (const Case& c : cases) {
    const auto path = folder.write("x", c.text);
    const std::string message = error_of(ErrorKind::bad_format, [&] { read_all(path); });
    EXPECT_TRUE(message.starts_with(path.string() + c.message)) << message << "\nexpected " << c.message;
  }
}

TEST(Safetensors, LongAndStrangeNamesStayReadableInMessages) {
  TempFolder folder;
  const std::string name(10000, 'n');
  const auto path = folder.write("x", file_text("{\"" + name + "\\n\":{}}"));
  EXPECT_LT(error_of(ErrorKind::bad_format, [&] { read_all(path); }).size(), 400u);
  std::string ones = "1";
  for (int axis = 1; axis < 5000; ++axis) ones += ",1";
  const auto deep =
      folder.write("y", file_text(R"({"a":{"dtype":"U8","shape":[)" + ones + R"(],"data_offsets":[0,1]}})", "x"));
  EXPECT_LT(error_of(ErrorKind::bad_format, [&] { read_all(deep); }).size(), 400u);
}

TEST(Safetensors, TheWriterRefusesWhatCannotBeRead) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  const Tensor one = Tensor::zeros({1});
  error_of(ErrorKind::invalid_argument, [&] { save_safetensors(path, {{"a", Tensor()}}); });
  error_of(ErrorKind::invalid_argument, [&] { save_safetensors(path, {{"__metadata__", one}}); });
  error_of(ErrorKind::invalid_argument, [&] { save_safetensors(path, {{"\xff", one}}); });
  error_of(ErrorKind::invalid_argument, [&] { save_safetensors(path, {{"a", one}}, {{"k", "\xff"}}); });
  error_of(ErrorKind::io, [&] { save_safetensors(folder.path() / "absent/x", {{"a", one}}); });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  save_safetensors(path, {{"a", Tensor::zeros({3})}, {"b", Tensor::zeros({2, 2}, DType::i64)}});
  const std::string whole = read_file(path, 1000);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    error_of(ErrorKind::bad_format, [&] { read_all(folder.write("y", whole.substr(0, length))); });
  }
  error_of(ErrorKind::bad_format, [&] { read_all(folder.write("y", whole + '\0')); });
}

// Whatever a flipped file says, it is either refused or consistent with its own bytes.
TEST(Safetensors, FlippedBytesAreRefusedOrConsistent) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  save_safetensors(path,
                   {{"a", Tensor::zeros({3})}, {"b", Tensor::zeros({2, 2}, DType::i64)}, {"c", Tensor::zeros({})}});
  const std::string whole = read_file(path, 1000);
  int accepted = 0;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    std::string text = whole;
    const std::uint64_t flips = 1 + uniform_integer(1, 1, round, 3);
    for (std::uint64_t flip = 0; flip < flips; ++flip) {
      const std::uint64_t key = 8 * round + flip;
      text[uniform_integer(1, 2, key, text.size())] = static_cast<char>(uniform_integer(1, 3, key, 256));
    }
    try {
      const SafetensorsFile file(folder.write("y", text));
      std::size_t covered = 0;
      for (const std::string& name : file.names()) {
        covered += file.bytes(name).size();
        EXPECT_EQ(file.info(name).end, covered);
      }
      EXPECT_LE(covered + 10, text.size());
      file.tensors();
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.kind()), "bad_format") << error.what();
    }
  }
  EXPECT_GT(accepted, 50);   // flips in the data, or in names
  EXPECT_LT(accepted, 800);  // flips in the header
}

}  // namespace
}  // namespace heed
