#include "heed/text/scripts.h"

#include <algorithm>
#include <iterator>

#include "heed/text/unicode.h"

namespace heed::text {
namespace {

struct ScriptRange {
  char32_t first, last;  // both inclusive
  Script script;
};

// By code point. Marks and signs between the letters of a block count as its script.
constexpr ScriptRange kRanges[] = {
    {0x41, 0x5A, Script::latin},          {0x61, 0x7A, Script::latin},        {0xAA, 0xAA, Script::latin},
    {0xBA, 0xBA, Script::latin},          {0xC0, 0xD6, Script::latin},        {0xD8, 0xF6, Script::latin},
    {0xF8, 0x2AF, Script::latin},         {0x370, 0x373, Script::greek},      {0x376, 0x37D, Script::greek},
    {0x37F, 0x386, Script::greek},        {0x388, 0x3FF, Script::greek},      {0x400, 0x52F, Script::cyrillic},
    {0x531, 0x588, Script::armenian},     {0x591, 0x5F4, Script::hebrew},     {0x620, 0x669, Script::arabic},
    {0x66E, 0x6D3, Script::arabic},       {0x6D5, 0x6FF, Script::arabic},     {0x710, 0x74F, Script::syriac},
    {0x750, 0x77F, Script::arabic},       {0x780, 0x7B1, Script::thaana},     {0x8A0, 0x8FF, Script::arabic},
    {0x900, 0x963, Script::devanagari},   {0x966, 0x97F, Script::devanagari}, {0x980, 0x9FF, Script::bengali},
    {0xA00, 0xA7F, Script::gurmukhi},     {0xA80, 0xAFF, Script::gujarati},   {0xB00, 0xB7F, Script::oriya},
    {0xB80, 0xBFF, Script::tamil},        {0xC00, 0xC7F, Script::telugu},     {0xC80, 0xCFF, Script::kannada},
    {0xD00, 0xD7F, Script::malayalam},    {0xD80, 0xDFF, Script::sinhala},    {0xE01, 0xE3A, Script::thai},
    {0xE40, 0xE5B, Script::thai},         {0xE80, 0xEFF, Script::lao},        {0xF00, 0xF0A, Script::tibetan},
    {0xF18, 0xFFF, Script::tibetan},      {0x1000, 0x1049, Script::myanmar},  {0x104C, 0x109F, Script::myanmar},
    {0x10A0, 0x10FA, Script::georgian},   {0x10FC, 0x10FF, Script::georgian}, {0x1100, 0x11FF, Script::hangul},
    {0x1200, 0x135F, Script::ethiopic},   {0x1369, 0x139F, Script::ethiopic}, {0x13A0, 0x13FF, Script::cherokee},
    {0x1780, 0x17D3, Script::khmer},      {0x17D7, 0x17FF, Script::khmer},    {0x180B, 0x18AF, Script::mongolian},
    {0x1C80, 0x1C8F, Script::cyrillic},   {0x1C90, 0x1CBF, Script::georgian}, {0x1E00, 0x1EFF, Script::latin},
    {0x1F00, 0x1FFF, Script::greek},      {0x2C60, 0x2C7F, Script::latin},    {0x2DE0, 0x2DFF, Script::cyrillic},
    {0x2E80, 0x2FD5, Script::han},        {0x3005, 0x3007, Script::han},      {0x3021, 0x3029, Script::han},
    {0x3041, 0x309F, Script::kana},       {0x30A1, 0x30FA, Script::kana},     {0x30FC, 0x30FF, Script::kana},
    {0x3105, 0x312F, Script::bopomofo},   {0x3131, 0x318E, Script::hangul},   {0x31A0, 0x31BF, Script::bopomofo},
    {0x31F0, 0x31FF, Script::kana},       {0x3400, 0x4DBF, Script::han},      {0x4E00, 0x9FFF, Script::han},
    {0xA640, 0xA69F, Script::cyrillic},   {0xA722, 0xA787, Script::latin},    {0xA78B, 0xA7FF, Script::latin},
    {0xA8E0, 0xA8FF, Script::devanagari}, {0xA960, 0xA97F, Script::hangul},   {0xAA60, 0xAA7F, Script::myanmar},
    {0xAB70, 0xABBF, Script::cherokee},   {0xAC00, 0xD7FF, Script::hangul},   {0xF900, 0xFAFF, Script::han},
    {0xFB00, 0xFB06, Script::latin},      {0xFB13, 0xFB17, Script::armenian}, {0xFB1D, 0xFB4F, Script::hebrew},
    {0xFB50, 0xFDFF, Script::arabic},     {0xFE70, 0xFEFC, Script::arabic},   {0xFF21, 0xFF3A, Script::latin},
    {0xFF41, 0xFF5A, Script::latin},      {0xFF66, 0xFF9F, Script::kana},     {0xFFA0, 0xFFDC, Script::hangul},
    {0x20000, 0x323AF, Script::han},
};

// By Script.
constexpr std::string_view kCodes[] = {"Zyyy", "Latn", "Grek", "Cyrl", "Armn", "Hebr", "Arab", "Syrc",
                                       "Thaa", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu",
                                       "Knda", "Mlym", "Sinh", "Thai", "Laoo", "Tibt", "Mymr", "Geor",
                                       "Hang", "Ethi", "Cher", "Khmr", "Mong", "Kana", "Bopo", "Hani"};
static_assert(std::size(kCodes) == kScripts);

}  // namespace

Script script_of(char32_t point) {
  const auto* after = std::ranges::upper_bound(kRanges, point, {}, &ScriptRange::first);
  if (after == std::begin(kRanges)) return Script::none;
  const ScriptRange& range = *(after - 1);
  return point <= range.last ? range.script : Script::none;
}

std::string_view script_code(Script script) {
  return kCodes[static_cast<std::size_t>(script)];
}

bool is_written_without_spaces(char32_t point) {
  if (point < 0x2E80) return false;
  const bool punctuation = (point >= 0x3000 && point <= 0x303F) || (point >= 0xFF00 && point <= 0xFF0F) ||
                           (point >= 0xFF1A && point <= 0xFF20) || (point >= 0xFF3B && point <= 0xFF65);
  if (punctuation || point == 0x30FB) return true;
  const Script script = script_of(point);
  return script == Script::han || script == Script::kana || script == Script::bopomofo;
}

bool is_upper_case(char32_t point) {
  return lower_case(point) != point;
}

bool is_lower_case(char32_t point) {
  if (point < 0x80) return point >= 'a' && point <= 'z';
  switch (script_of(point)) {
    case Script::latin:
    case Script::greek:
    case Script::cyrillic:
    case Script::armenian: return !is_upper_case(point) && PropertyTable().has(point, kIsRegexLetter);
    default: return false;
  }
}

}  // namespace heed::text
