// Which frames of a stream a sample has, for a person who looks a few times a second: some in a row each time
// that the reader has taken all, and from the first one on that something has happened to, some more. So what
// a loss leads to is seen also where a million frames pass between two looks.
#pragma once

namespace urnic::control {

class FrameSampler {
 public:
  static constexpr unsigned kInARow = 200;
  static constexpr unsigned kBehindEvent = 200;

  // `taken`: the reader has taken all of the sample so far. `event`: a link or a fault has changed or lost
  // the frame.
  bool takes(bool taken, bool event) {
    if (taken) *this = {};
    behind_event_ = behind_event_ || event;
    unsigned& left = behind_event_ ? behind_event_left_ : in_a_row_left_;
    if (left == 0) return false;
    --left;
    return true;
  }

 private:
  unsigned in_a_row_left_ = kInARow;
  unsigned behind_event_left_ = kBehindEvent;
  bool behind_event_ = false;
};

}  // namespace urnic::control
