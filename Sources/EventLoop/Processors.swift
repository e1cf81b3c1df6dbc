import CLibUV

/// The processors that this process may run on, and which of them others are kept to.
public enum Processors {
    private static let numberMax: CInt = 1_024

    /// The numbers of those that this process may use; empty where the kernel does not say.
    public static func allowed() -> [Int] {
        (0..<numberMax).filter { cuv_may_run_on($0) == 1 }.map(Int.init)
    }

    /// Keeps a process to one processor; 0 is the calling thread and what it starts later.
    ///
    /// Of another process it is the main thread, and those that this one starts later.
    public static func pin(process: Int32, to number: Int) throws(UVError) {
        try checkSystem(cuv_pin(process, CInt(number)), "sched_setaffinity")
    }
}
