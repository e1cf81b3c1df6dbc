import CLibUV

/// The processors that this process may run on, and pinning of processes.
public enum Processors {
    private static let numberMax: CInt = 1_024

    /// The numbers of the processors that this process may use; empty if unknown.
    public static func allowed() -> [Int] {
        (0..<numberMax).filter { cuv_may_run_on($0) == 1 }.map(Int.init)
    }

    /// Pins a process to one processor; 0 is the calling thread and the threads it starts later.
    ///
    /// Of another process it is the main thread and the threads that it starts later.
    public static func pin(process: Int32, to number: Int) throws(UVError) {
        try checkSystem(cuv_pin(process, CInt(number)), "sched_setaffinity")
    }
}
