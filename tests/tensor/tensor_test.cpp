#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

#include "heed/base/error.h"
#include "heed/tensor/packed.h"

namespace heed {
namespace {

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shape, CountsPrintsAndRefuses) {
  EXPECT_EQ(Shape().count(), 1);
  EXPECT_EQ(Shape({2, 0, 3}).count(), 0);
  EXPECT_EQ(Shape({2, 3, 4})[-1], 4);
  std::ostringstream text;
  text << Shape({2, 3});
  EXPECT_EQ(text.str(), "[2, 3]");
  EXPECT_THROW(Shape({2, -1}), Error);
  EXPECT_THROW(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  EXPECT_THROW(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW(Shape({2})[1], Error);
  EXPECT_EQ(broadcast_shapes("test", {4, 1, 3}, {2, 1}), Shape({4, 2, 3}));
  EXPECT_NE(message_of([] { broadcast_shapes("test", {2, 3}, {4}); }).find("[2, 3] and [4]"), std::string::npos);
}

TEST(Tensor, FactoriesGiveTheirValues) {
  EXPECT_EQ(Tensor::zeros({2, 2}).to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(Tensor::full({2}, 1.5, DType::f64).to_vector<double>(), (std::vector<double>{1.5, 1.5}));
  EXPECT_EQ(Tensor::from<std::int64_t>({1, 2, 3}, {3}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(Tensor::full({}, 3).item(), 3);
  EXPECT_THROW(Tensor::from<float>({1, 2, 3}, {2}), Error);
  EXPECT_THROW(Tensor::empty({std::int64_t{1} << 62}), Error);
}

TEST(Tensor, ViewsShareBytesAndReadRight) {
  Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor t = x.detached_transpose(0, 1);
  EXPECT_EQ(t.shape(), Shape({3, 2}));
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(t.at({2, 1}), 5);
  const Tensor row = x.detached_slice(0, 1, 2);
  EXPECT_EQ(row.to_vector<float>(), (std::vector<float>{3, 4, 5}));
  EXPECT_TRUE(row.is_contiguous());
  const Tensor column = x.detached_slice(1, 1, 2);
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_EQ(column.to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(row.detached_expand({2, 3}).to_vector<float>(), (std::vector<float>{3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(x.storage().get(), t.storage().get());
  x.mutable_data<float>()[5] = 50;
  EXPECT_EQ(t.at({2, 1}), 50);
  EXPECT_THROW(x.detached_slice(0, 1, 3), Error);
  EXPECT_THROW(x.detached_reshape({4}), Error);
  EXPECT_THROW(x.detached_expand({2, 4}), Error);
}

TEST(Tensor, WrongTypeIsNamed) {
  const Tensor x = Tensor::zeros({2});
  const std::string message = message_of([&] { x.data<double>(); });
  EXPECT_NE(message.find("f64"), std::string::npos) << message;
  EXPECT_NE(message.find("f32"), std::string::npos) << message;
  EXPECT_THROW(Tensor().data<float>(), Error);
}

TEST(Tensor, ConvertsBetweenAllTypes) {
  const Tensor x = Tensor::from<float>({0, -1.5f, 3.25f, 65504}, {4});
  for (DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    const Tensor back = x.detached_to(dtype).detached_to(DType::f32);
    EXPECT_EQ(x.detached_to(dtype).dtype(), dtype);
    EXPECT_EQ(back.at({1}), -1.5);
    EXPECT_EQ(back.at({2}), 3.25);
  }
  EXPECT_EQ(x.detached_to(DType::f16).detached_to(DType::f64).at({3}), 65504);
  EXPECT_EQ(Tensor::from<std::int32_t>({7}, {1}).detached_to(DType::i64).to_vector<std::int64_t>()[0], 7);
  EXPECT_EQ(x.detached_transpose(0, 0).detached_to(DType::f64).at({1}), -1.5);
}

TEST(Tensor, BorrowedBytesAreReadOnly) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  Tensor x = Tensor::borrow(owner->data(), {3}, DType::f32, owner);
  EXPECT_EQ(x.at({2}), 3);
  EXPECT_THROW(x.mutable_data<float>(), Error);
  Tensor copy = x.detached_clone();
  copy.mutable_data<float>()[0] = 9;
  EXPECT_EQ(x.at({0}), 1);
  EXPECT_EQ(owner.use_count(), 2);
  x = Tensor();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Tensor, SameBitsTellsZerosApart) {
  EXPECT_FALSE(same_bits(Tensor::from<float>({0.0f}, {1}), Tensor::from<float>({-0.0f}, {1})));
  EXPECT_TRUE(same_bits(Tensor::zeros({2, 3}), Tensor::zeros({3, 2}).detached_transpose(0, 1)));
}

TEST(Packed, OffsetsKnowTheirSequences) {
  const Offsets offsets{3, 0, 2};
  EXPECT_EQ(offsets.sequences(), 3);
  EXPECT_EQ(offsets.tokens(), 5);
  EXPECT_EQ(offsets.length(1), 0);
  EXPECT_EQ(offsets.begin(2), 3);
  EXPECT_EQ(offsets.longest(), 3);
  EXPECT_THROW(Offsets({1, -1}), Error);
  EXPECT_EQ(Offsets().sequences(), 0);
  EXPECT_THROW(Packed(Tensor::zeros({4, 2}), offsets), Error);
}

TEST(Packed, PaddedBatchesGoInAndOut) {
  const Tensor padded = Tensor::from<float>({1, 2, 0, 3, 0, 0, 4, 5, 6}, {3, 3});
  const Packed packed = pack_padded(padded, std::vector<std::int64_t>{2, 1, 3});
  EXPECT_EQ(packed.values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(same_bits(pad(packed), padded));
  EXPECT_EQ(packed.sequence(2).to_vector<float>(), (std::vector<float>{4, 5, 6}));
  const std::vector<Tensor> parts = {packed.sequence(0), packed.sequence(1), packed.sequence(2)};
  EXPECT_TRUE(same_bits(pack(parts).values, packed.values));
  EXPECT_THROW(pack_padded(padded, std::vector<std::int64_t>{2, 4, 3}), Error);
  EXPECT_THROW(packed.sequence(3), Error);
}

}  // namespace
}  // namespace heed
