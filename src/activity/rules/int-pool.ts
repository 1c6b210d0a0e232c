/** Blocks of numbers in one array: what is used together lies together, and nothing is left to the garbage collector. */
const BLOCK_MIN = 8

export class IntPool {
  /** A block's first number is its capacity, itself included; the rest belongs to whoever asked for it. */
  numbers: Int32Array = new Int32Array(1024)
  /** Place 0 is never given out, so that 0 can mean nowhere. */
  private end = 1
  private readonly free = new Map<number, number[]>()

  /** Where a block with room for so many numbers begins. */
  allocate(needed: number): number {
    let capacity = BLOCK_MIN
    while (capacity < needed + 1) capacity *= 2
    const reused = this.free.get(capacity)?.pop()
    const block = reused ?? this.end
    if (reused === undefined) {
      this.end += capacity
      if (this.end > this.numbers.length) this.numbers = enlarged(this.numbers, this.end)
    }
    this.numbers[block] = capacity
    return block
  }

  roomIn(block: number): number {
    return (this.numbers[block] as number) - 1
  }

  release(block: number) {
    const capacity = this.numbers[block] as number
    const blocks = this.free.get(capacity)
    if (blocks) blocks.push(block)
    else this.free.set(capacity, [block])
  }
}

/** Twice as large, or as large as needed. */
export function enlarged(numbers: Int32Array, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed, numbers.length * 2))
  larger.set(numbers)
  return larger
}
