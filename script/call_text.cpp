#include "script/call_text.hpp"

#include <charconv>
#include <vector>

#include "script/language/vocabulary.hpp"

namespace urnic::script {
namespace {

void append_bytes(std::string& line, const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  line += " #";
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    line += kDigits[value >> 4];
    line += kDigits[value & 15];
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = line.find(' ');
    if (end != 0) words.push_back(line.substr(0, end));
    line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
  }
  return words;
}

bool read_number(std::string_view text, std::uint64_t& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_bytes(std::string_view digits, Bytes& bytes) {
  if (digits.size() % 2 != 0) return false;
  for (; !digits.empty(); digits.remove_prefix(2)) {
    std::uint64_t value = 0;
    if (!read_number(digits.substr(0, 2), value, 16)) return false;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return true;
}

// "m:0:64"
bool read_place(std::string_view text, std::vector<Place>& places) {
  const std::size_t last = text.rfind(':');
  const std::size_t middle = last == std::string_view::npos || last == 0 ? last : text.rfind(':', last - 1);
  if (middle == std::string_view::npos) return false;
  Place place;
  place.region = text.substr(0, middle);
  if (!read_number(text.substr(middle + 1, last - middle - 1), place.offset)) return false;
  if (!read_number(text.substr(last + 1), place.length)) return false;
  places.push_back(std::move(place));
  return true;
}

// A word of a call: a place, bytes, a number or the name of an object.
bool read_argument(std::string_view word, Call& call) {
  if (word.front() == '@') return read_place(word.substr(1), call.places);
  if (word.front() == '#') return read_bytes(word.substr(1), call.bytes);
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos || sign + 1 == word.size()) return false;
  const std::string name(word.substr(0, sign));
  const std::string_view value = word.substr(sign + 1);
  if (value.front() == '\'') {
    call.names[name] = value.substr(1);
    return true;
  }
  return read_number(value, call.numbers[name]);
}

}  // namespace

std::string to_line(const Call& call) {
  std::string line =
      std::string(spec(call.verb).word) + ' ' + call.object + ' ' + std::to_string(call.opcode);
  for (const auto& [name, value] : call.numbers) line += ' ' + name + '=' + std::to_string(value);
  for (const auto& [name, value] : call.names) line.append(" ").append(name).append("='").append(value);
  for (const Place& place : call.places)
    line += " @" + place.region + ':' + std::to_string(place.offset) + ':' + std::to_string(place.length);
  if (!call.bytes.empty()) append_bytes(line, call.bytes);
  return line;
}

std::string to_line(const Answer& answer) {
  if (!answer.refusal.empty()) return "refused " + answer.refusal;
  if (answer.nothing) return "nothing";
  std::string line = "ok";
  for (const auto& [name, value] : answer.numbers) line += ' ' + name + '=' + std::to_string(value);
  if (!answer.bytes.empty()) append_bytes(line, answer.bytes);
  return line;
}

std::optional<Call> call_of_line(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 3) return {};
  const KeywordSpec* const keyword = find_keyword(words[0]);
  if (keyword == nullptr) return {};
  Call call;
  call.verb = keyword->keyword;
  call.object = words[1];
  if (!read_number(words[2], call.opcode)) return {};
  for (std::size_t i = 3; i < words.size(); ++i)
    if (!read_argument(words[i], call)) return {};
  return call;
}

std::optional<Answer> answer_of_line(std::string_view line) {
  constexpr std::string_view kRefused = "refused ";
  Answer answer;
  if (line.substr(0, kRefused.size()) == kRefused) {
    answer.refusal = line.substr(kRefused.size());
    return answer;
  }
  answer.nothing = line == "nothing";
  if (answer.nothing) return answer;
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty() || words[0] != "ok") return {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].front() == '#') {
      if (!read_bytes(words[i].substr(1), answer.bytes)) return {};
      continue;
    }
    const std::size_t sign = words[i].find('=');
    if (sign == std::string_view::npos) return {};
    if (!read_number(words[i].substr(sign + 1), answer.numbers[std::string(words[i].substr(0, sign))]))
      return {};
  }
  return answer;
}

}  // namespace urnic::script
