"""`python -m benchmarks NAME …` runs a benchmark; `python -m benchmarks` lists them."""

from __future__ import annotations

import sys


def main() -> int:
    """Exit status of the benchmark that was named."""
    from benchmarks import cold, embedding, ingest, known_item, latency, no_answer, redaction, report, retrieval, worth

    benchmarks = {
        "retrieval": retrieval.main,
        "known-item": known_item.main,
        "no-answer": no_answer.main,
        "worth": worth.main,
        "embedding": embedding.main,
        "redaction": redaction.main,
        "ingest": ingest.main,
        "latency": latency.main,
        "cold": cold.main,
        "report": report.main,
    }
    if len(sys.argv) < 2 or sys.argv[1] not in benchmarks:
        print(f"benchmarks: {', '.join(benchmarks)}\nusage: python -m benchmarks NAME --help")
        return 2
    return benchmarks[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
