import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { BrokenOff, type Bodies } from '../http/bodies.ts'
import { plainRequest, sendReply, type PlainReply } from '../http/exchange.ts'
import type { Serve } from '../http/starting.ts'
import { addressBlock } from '../http/words.ts'
import type { Pipeline } from './pipeline.ts'

/** HTTP in front of the pipeline, in the same process. */
export const served =
  (pipeline: Pipeline, bodies: Bodies, trustProxy: number): Serve =>
  (request, response) =>
    void serve(pipeline, bodies, trustProxy, request, response)

async function serve(
  pipeline: Pipeline,
  bodies: Bodies,
  trustProxy: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const plain = plainRequest(request, trustProxy)
  const passage = pipeline.begin(plain)
  let reply = pipeline.look(passage)
  if (reply === undefined) {
    let body: Buffer | undefined
    try {
      if (plain.hasBody && pipeline.wantsBody(passage))
        body = await bodies.read(request, response, addressBlock(plain.ip))
    } catch (error) {
      if (error instanceof BrokenOff) {
        pipeline.brokenOff(passage)
        return
      }
      reply = pipeline.refuse(passage, error)
    }
    reply ??= await pipeline.finish(passage, body)
  }
  await answer(request, response, plain.inTime, reply)
}

/** Of a request that is refused a small body usually came with the head: it is let in, so that the connection can go on. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  inTime: number,
  reply: PlainReply,
): Promise<void> {
  if (!request.complete && reply.status >= 400) {
    request.resume()
    await turn()
  }
  sendReply(request, response, inTime, reply)
}
