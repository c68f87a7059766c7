// Threads that help others with their work: started when first needed, shared by the whole process, soon asleep when
// there is nothing to do. A loop does not wait for helpers that never start because the CPUs are busy.
#pragma once

namespace heed::detail {

// Work that one thread can do alone and others may help with.
class SharedWork {
 public:
  // Does what is left to do. Number 0 is the thread whose work it is; helpers have numbers from 1 on.
  virtual void take_part(int number) noexcept = 0;

 protected:
  ~SharedWork() = default;
};

// Does the work on this thread, with up to `helpers` others that are idle. Returns when all that took part are done;
// helpers that come too late are sent away.
void work_with_helpers(SharedWork& work, int helpers);

}  // namespace heed::detail
